import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { root, sourceFiles, type Workspace, workspaces } from '../repository/source-files.ts';
import { CopiedSources } from './copied-sources.ts';

const execute = promisify(execFile);

const packages = workspaces().filter(({ folder }) => folder.startsWith('packages/'));
const sourcesOf = ({ folder }: Workspace) => `${folder}/src`;
/** Only these are compiled: the others take several times as long, and know no operation by its name. */
const usesTable = (workspace: Workspace) =>
  sourceFiles(sourcesOf(workspace)).some(({ imports }) =>
    imports.some(({ specifier }) => specifier === '@batonjs/protocol/operations'),
  );

let copy: CopiedSources;
beforeAll(() => {
  copy = new CopiedSources([
    'packages/protocol/src',
    'scripts/fuzz',
    ...packages.filter(usesTable).map(sourcesOf),
  ]);
});
afterAll(() => copy.remove());

/** The files that CONTRIBUTING names for a new operation: that of the row, and those that the compiler names. */
function placesOf(contributing: string): { table: string; others: string[] } {
  const [, section = ''] = /^An operation is one row in ([\s\S]*?)^Routes,/m.exec(contributing) ?? [];
  const [table = '', ...others] = Array.from(section.matchAll(/`([\w./-]+\.ts)`/g), ([, path]) => path!);
  return { table, others: others.sort() };
}

const { table, others } = placesOf(readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8'));

/** What a new operation needs in each place: it is like CancelTask. 0.3 does not have it. */
const additions: Readonly<Record<string, readonly [RegExp, string]>> = {
  'packages/protocol/src/params.ts': [/^( *)CancelTask: (.*)$/m, '$&\n$1PauseTask: $2'],
  'packages/protocol/src/schemas.ts': [/^( *)CancelTask: (.*)$/m, '$&\n$1PauseTask: $2'],
  'packages/server/src/operations/operations.ts': [/^( *)CancelTask: (.*)$/m, '$&\n$1PauseTask: $2'],
  'packages/bindings-v0-3/src/http/operations.ts': [/^( *)CancelTask: /m, '$1PauseTask: undefined,\n$&'],
  'scripts/fuzz/valid-request.ts': [/^( *)case 'CancelTask':$/m, "$&\n$1case 'PauseTask':"],
};

describe('a new operation and a new error', () => {
  // That the compiler misses each of them: `new-member.test.ts`.
  it('need nothing in other places than CONTRIBUTING says', {
    timeout: 300_000,
  }, async () => {
    expect(others).toEqual(Object.keys(additions).sort());
    copy.edit(
      table,
      /^( *)CancelTask: (.*)$/m,
      `$&\n$1PauseTask: { kind: 'unary', since: '1.1', repeatable: 'always', http: ['POST /tasks/{id}:pause'] },`,
    );
    copy.edit(
      'packages/protocol/src/errors.ts',
      /^( *)TASK_NOT_CANCELABLE: .*$/m,
      `$&\n$1TASK_NOT_PAUSABLE: { jsonRpc: -32011, http: 400, status: 'FAILED_PRECONDITION', message: 'No' },`,
    );
    for (const [file, addition] of Object.entries(additions)) copy.edit(file, ...addition);
    const { output } = await copy.compile();
    expect(output).toBe('');
  });

  it('are refused by A2A 0.3, which does not have them', async () => {
    const program = `
      import { httpJsonServer } from '@batonjs/bindings';
      import { v03, v03Client } from '@batonjs/bindings-v0-3';
      const outcome = (attempt) => {
        try {
          return attempt();
        } catch ({ reason, message }) {
          return { reason, message };
        }
      };
      const headers = { 'content-type': 'application/json' };
      const ask = (binding, path) =>
        outcome(() => binding.decodeCall({ method: 'POST', path, query: new URLSearchParams(), headers }).operation);
      const [, older] = v03().bindings;
      const call = { operation: 'PauseTask', params: { id: 't' } };
      console.log(
        JSON.stringify({
          newer: ask(httpJsonServer, '/tasks/t:pause'),
          older: ask(older, '/v1/tasks/t:pause'),
          known: ask(older, '/v1/tasks/t:cancel'),
          clients: v03Client().bindings.map((binding) => outcome(() => binding.encodeCall(call, 'http://agent.example'))),
        }),
      );`;
    const path = join(copy.folder, 'refuse.ts');
    writeFileSync(path, program);
    const { stdout } = await execute(process.execPath, ['--conditions=@batonjs/source', path]);
    const refused = (reason: string) => ({ reason, message: 'A2A 0.3 has no PauseTask' });
    expect(JSON.parse(stdout)).toEqual({
      newer: 'PauseTask',
      older: refused('METHOD_NOT_FOUND'),
      known: 'CancelTask',
      clients: [refused('UNSUPPORTED_OPERATION'), refused('UNSUPPORTED_OPERATION')],
    });
  });
});
