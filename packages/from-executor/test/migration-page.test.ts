import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AgentExecutor } from '@a2a-js/sdk/server';
import { connect, textOf } from '@batonjs/client';
import { createAgentServer } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { serveOfficial } from '../../../test/kit/official-server.ts';
import { fromExecutor } from '../src/index.ts';

const page = '../../../docs/start/migrate-from-a2a-js.md';
const words = `async function* words(about: string) {
  for (const word of ['On', about]) yield word;
}`;

let folder: string;
let Essayist: new () => AgentExecutor;

// Below the package, so that the imports of the program resolve.
beforeAll(async () => {
  folder = await mkdtemp(join(import.meta.dirname, '.page-'));
  const text = await readFile(join(import.meta.dirname, page), 'utf8');
  const programs = Array.from(text.matchAll(/^```ts\n([\s\S]*?)^```$/gm), ([, code]) => code!);
  const program = programs.find((code) => code.includes('class Essayist'))!;
  await writeFile(join(folder, 'essayist.ts'), program.replace(/^declare function words.*$/m, words));
  ({ Essayist } = await import(join(folder, 'essayist.ts')));
});
afterAll(() => rm(folder, { recursive: true }));

const servers = {
  'the server of the official SDK': async () => (await serveOfficial({ executor: new Essayist() })).url,
  'a server of Baton': async () => {
    const server = createAgentServer({
      card: { name: 'Essayist', description: 'Writes essays' },
      agent: fromExecutor(new Essayist()),
      store: memoryStore(),
    });
    onTestFinished(() => server.close({ graceMs: 0 }));
    return server;
  },
};

it.each(Object.entries(servers))(
  'the executor of the page asks, and goes on with the answer, on %s',
  async (_, start) => {
    const target = await start();
    const agent =
      typeof target === 'string'
        ? await connect(target)
        : await connect('http://localhost', { fetch: (request) => target.fetch(request) });
    const asked = await agent.stream([{ data: 7 }]).result();
    expect(asked.task?.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    const answered = agent.stream('The sea', { task: asked.task!.id });
    const { task } = await answered.result();
    expect(task?.status.state).toBe('TASK_STATE_COMPLETED');
    expect(textOf(task?.artifacts?.[0])).toBe('OnThe sea');
  },
);
