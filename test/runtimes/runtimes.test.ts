import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { codeBlocks } from '../../scripts/packed/consumer.ts';
import { exchange } from '../kit/http/exchange.ts';
import { rpcBody, usual } from '../kit/http/known-tasks.ts';
import { said } from '../kit/http/wrong-sends.ts';
import { freePort, node22, run } from '../kit/processes.ts';
import { repetitions } from '../kit/repetitions.ts';
import { temporaryFolder } from '../kit/temporary-folder.ts';
import { root } from '../repository/source-files.ts';
import { npmRuntime } from '../support/npm-runtime.ts';

const suites = [
  'packages/server/test/front/http/bad-input.fetch.test.ts',
  'packages/server/test/front/http/mounts.test.ts',
  'test/frameworks/frameworks.test.ts',
];
/** Runtimes, each with the workers of vitest that it can start. */
const runtimes = [
  { name: 'bun', flags: ['--bun', '--no-install'], pool: 'threads' },
  { name: 'deno', flags: ['run', '--allow-all', '--node-modules-dir=manual'], pool: 'forks' },
] as const;
/** The oldest that the manifests name: its workers are those that these tests run in. */
const oldest = { name: 'Node.js 22.19', flags: [], pool: undefined } as const;

it.for(runtimes)(
  'the first two programs of the README run on $name',
  { timeout: 300_000 },
  async ({ name, flags }, { skip }) => {
    const program = await npmRuntime(name);
    if (!program) return skip();
    const folder = temporaryFolder();
    const port = String(await freePort());
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    const [hello = '', ask = ''] = codeBlocks('README.md').map((code) => code.replaceAll('4000', port));
    writeFileSync(join(folder, 'hello.ts'), `${hello}\nconsole.log('listening');\n`);
    writeFileSync(join(folder, 'ask.ts'), ask);
    const start = (file: string) =>
      run(program, [...flags, '--conditions=@batonjs/source', join(folder, file)], {
        cwd: folder,
        env: { DENO_DIR: join(folder, 'deno') },
      });
    await using server = start('hello.ts');
    await server.until(/listening/);
    await using client = start('ask.ts');
    await client.ended;
    expect(client.output).toContain('TASK_STATE_COMPLETED Hello, Ada!');
  },
);

it.for(runtimes)(
  'the server of $name refuses a page whose name leads to it',
  { timeout: 300_000 },
  async ({ name, flags }, { skip }) => {
    const program = await npmRuntime(name);
    if (!program) return skip();
    const port = String(await freePort());
    await using server = run(
      program,
      [...flags, '--conditions=@batonjs/source', join(import.meta.dirname, 'served-by-runtime.ts')],
      { env: { DENO_DIR: join(temporaryFolder(), 'deno'), PORT: port } },
    );
    await server.until(/serving/);
    const body = rpcBody('SendMessage', { message: said() });
    const ask = async (host: string) =>
      (await exchange(`http://127.0.0.1:${port}`, { method: 'POST', headers: { ...usual, host }, body }))
        .status;
    expect(await ask('evil.example')).toBe(403);
    expect(await ask(`localhost:${port}`)).toBe(200);
  },
);

// The other runtimes serve the README's programs in every run, and pass these tests in a long one.
it.for([oldest, ...runtimes.slice(0, repetitions(0, runtimes.length))])(
  'the tests of `server.fetch` and of its mounts pass on $name',
  { timeout: 300_000 },
  async ({ name, flags, pool }, { skip }) => {
    const program = name === oldest.name ? node22 : await npmRuntime(name);
    if (!program) return skip();
    const vitest = join(root, 'node_modules/vitest/vitest.mjs');
    // One worker, which loads the sources once for all suites.
    const inPool = pool ? [`--pool=${pool}`] : [];
    const args = [...flags, vitest, 'run', ...inPool, '--maxWorkers=1', ...suites];
    await using tests = run(program, args, {
      env: { DENO_DIR: join(temporaryFolder(), 'deno'), NO_COLOR: '1', FORCE_COLOR: '' },
    });
    expect(await tests.ended, tests.output).toBe(0);
    expect(tests.output).toMatch(/Test Files\s+3 passed \(3\)/);
  },
);
