import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { root } from '../repository/source-files.ts';
import { CopiedSources } from './copied-sources.ts';

/** Names of types that are passed to something, the packages that users do not call with them, and types of others. */
const taken = /(Options|Request|Filter|Retry|Limits|Caching)$/;
const inner = /^(bindings|cli|lifecycle|protocol|store|store-conformance)\.txt$/;
const foreign = new Set(["import('@batonjs/store-redis').ClientOptions"]);

/** The types that are passed to something, as they are imported. */
const optionTypes = readdirSync(join(root, 'test/api'))
  .filter((file) => file.endsWith('.txt') && !inner.test(file))
  .flatMap((file) => {
    let entry = '';
    return readFileSync(join(root, 'test/api', file), 'utf8')
      .split('\n')
      .flatMap((line) => {
        entry = /^\S+(?= \()/.exec(line)?.[0] ?? entry;
        const [, name = '', kind = ''] = /^ {2}(\w+): (.*)$/.exec(line) ?? [];
        return kind.includes('type') && taken.test(name) ? [`import('${entry}').${name}`] : [];
      });
  })
  .filter((type) => !foreign.has(type));

const program = `
import type { AgentClient } from '@batonjs/client';
import type { Message, Task } from '@batonjs/protocol';

type Optional<T, K extends keyof T> = {} extends Pick<T, K> ? K : never;
type Refusing<T> = T extends object ? { [K in keyof T]-?: Optional<T, K> extends never ? never
  : { [P in K]?: T[P] | undefined } extends Pick<T, K> ? never : K }[keyof T] : never;
type None<Names extends never> = Names;
${optionTypes.map((type, n) => `type _${n} = None<Refusing<${type}>>; // ${type}`).join('\n')}

export async function goOn(agent: AgentClient, task: Task, message: Message, signal?: AbortSignal) {
  await agent.send('more', { contextId: task.contextId, metadata: message.metadata, signal });
  await agent.listTasks({ contextId: message.contextId, status: undefined }, { signal });
}
`;

let copy: CopiedSources;
afterAll(() => copy?.remove());

it('no option refuses undefined where `exactOptionalPropertyTypes` is on, so that results are passed back in', async () => {
  copy = new CopiedSources(['check.ts'], { exactOptionalPropertyTypes: true });
  writeFileSync(join(copy.folder, 'check.ts'), program);
  const { output } = await copy.compile();
  const lines = program.split('\n');
  const found = Array.from(output.matchAll(/^check\.ts\((\d+),.*$/gm), ([error, at]) => [
    error,
    lines[Number(at) - 1],
  ]);
  expect(found).toEqual([]);
  expect(optionTypes.length).toBeGreaterThan(60);
}, 120_000);
