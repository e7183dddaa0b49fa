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

it('starts without loading fetch, HTTP/2 and what else importing node:http brings', async () => {
  // What the test goes by: otherwise it could not fail.
  expect(await loadedBy(`await import('node:http')`)).toContain('internal/deps/undici/undici');
  const program = `
    const { createAgentServer } = await import('@batonjs/server');
    const { memoryStore } = await import('@batonjs/store-memory');
    createAgentServer({ card: { name: 'Echo', description: 'Echoes' }, agent: async () => 'hi', store: memoryStore() })`;
  expect(await loadedBy(program)).not.toContain('undici');
});
