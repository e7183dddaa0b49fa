import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const run = promisify(execFile);

/** Which modules of Node.js are loaded in a process that ran this program. */
async function loadedBy(program: string): Promise<string> {
  const code = `${program}; console.log(process.moduleLoadList.join(' '));`;
  const flags = ['--conditions=@batonjs/source', '--input-type=module', '--eval', code];
  return (await run(process.execPath, flags, { cwd: import.meta.dirname, maxBuffer: 1e6 })).stdout;
}

it('listens without what importing node:http and node:util would load: fetch, HTTP/2, worker threads', async () => {
  // What the test goes by: otherwise it could not fail.
  const names = 'internal/deps/undici/undici worker_threads'.split(' ');
  const all = await loadedBy(`await import('node:http'); await import('node:util')`);
  for (const name of names) expect(all).toContain(`NativeModule ${name}`);
  const program = `
    const { createAgentServer } = await import('@batonjs/server');
    const { listen } = await import('@batonjs/server-node');
    const { memoryStore } = await import('@batonjs/store-memory');
    const card = { name: 'Echo', description: 'Echoes' };
    await (await listen(createAgentServer({ card, agent: async () => 'hi', store: memoryStore() }))).close()`;
  const loaded = await loadedBy(program);
  for (const name of names) expect(loaded).not.toContain(`NativeModule ${name}`);
});
