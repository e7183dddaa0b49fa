import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'vitest';

const run = promisify(execFile);

/** Which modules of Node.js are loaded in a process that ran this program in a folder. */
async function loadedBy(program: string, cwd: string): Promise<string> {
  const code = `${program}; console.log(process.moduleLoadList.join(' '));`;
  const flags = ['--conditions=@batonjs/source', '--input-type=module', '--eval', code];
  return (await run(process.execPath, flags, { cwd, maxBuffer: 1e6 })).stdout;
}

/** The addresses of all modules that a program imports in a folder, of our packages from their sources. */
export async function importedBy(program: string, cwd: string): Promise<string[]> {
  const code = `
    import { registerHooks } from 'node:module';
    const urls = [];
    registerHooks({ load: (url, context, next) => (urls.push(url), next(url, context)) });
    ${program};
    console.log(JSON.stringify(urls));`;
  const flags = ['--conditions=@batonjs/source', '--input-type=module', '--eval', code];
  return JSON.parse((await run(process.execPath, flags, { cwd, maxBuffer: 1e6 })).stdout);
}

/** Fails if a program loads what importing `node:http` and `node:util` would: fetch, HTTP/2, worker threads. */
export async function expectLeanStart(program: string, cwd: string): Promise<void> {
  // What the test goes by: otherwise it could not fail.
  const names = 'internal/deps/undici/undici worker_threads'.split(' ');
  const all = await loadedBy(`await import('node:http'); await import('node:util')`, cwd);
  for (const name of names) expect(all).toContain(`NativeModule ${name}`);
  const loaded = await loadedBy(program, cwd);
  for (const name of names) expect(loaded).not.toContain(`NativeModule ${name}`);
}
