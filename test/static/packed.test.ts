import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { entriesOf } from '../../scripts/api/exports.ts';
import { publishedPackages } from '../../scripts/api/snapshot.ts';
import { codeBlocks, installTarballs } from '../../scripts/packed/consumer.ts';
import { packAll, root } from '../../scripts/packed/pack.ts';
import { runScript, tryProject } from '../../scripts/packed/try-project.ts';
import { freePort, node, node22 } from '../kit/processes.ts';

const run = promisify(execFile);
const runtimes = [
  { version: 'v22', node: node22 },
  { version: 'v24', node },
];
const createBaton = JSON.parse(readFileSync(join(root, 'packages/create-baton/package.json'), 'utf8'));
const [hello = '', ask = ''] = codeBlocks('README.md');

describe("the README's first two programs, on the packed packages,", () => {
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'baton-consumer-'));
    const more = { ...peers(), tsx: createBaton.devDependencies.tsx };
    await installTarballs(folder, await packAll(folder), more);
  }, 600_000);

  afterAll(() => rmSync(folder, { recursive: true }));

  it('begin with an agent of at most 12 lines, imports included', () => {
    expect(hello).toContain('createAgentServer');
    expect(hello.trimEnd().split('\n').length).toBeLessThanOrEqual(12);
  });

  it('type-check against the published declarations, which are checked too', async () => {
    writeFileSync(join(folder, 'hello.ts'), hello);
    writeFileSync(join(folder, 'ask.ts'), ask);
    const options =
      '--noEmit --strict --target es2023 --module nodenext --types node --skipLibCheck false --singleThreaded';
    await run('tsc', [...options.split(' '), 'hello.ts', 'ask.ts'], { cwd: folder }).catch((failure) => {
      throw new Error(failure.stdout);
    });
  });

  it.each([
    { from: 'node_modules', module: 'preserve', moduleResolution: 'bundler' },
    { from: 'test/node22/node_modules', module: 'nodenext', moduleResolution: 'nodenext' },
  ])(
    'have strict types in every entry, by the TypeScript in $from',
    async ({ from, ...modules }) => {
      const entries = publishedPackages().flatMap((one) => entriesOf(one).map(({ name }) => name));
      const compilerOptions = {
        ...{ noEmit: true, target: 'es2023', lib: ['es2023', 'dom', 'dom.iterable'], types: ['node'] },
        ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
        skipLibCheck: false,
        ...modules,
      };
      const text = entries
        .filter((name) => !name.endsWith('/package.json'))
        .map((name, n) => `export type * as e${n} from '${name}';\n`)
        .join('');
      writeFileSync(join(folder, 'entries.ts'), text);
      writeFileSync(join(folder, 'strict.json'), JSON.stringify({ compilerOptions, files: ['entries.ts'] }));
      const tsc = join(root, from, 'typescript/bin/tsc');
      const running = run(node, [tsc, '-p', 'strict.json'], { cwd: folder, maxBuffer: 1e8 });
      const { stdout } = await running.catch((failed) => failed);
      // Types of others, such as those of the AI SDK, are theirs. What is indented explains the line before it.
      const ofOthers = /^$|^ |^node_modules\/\.pnpm\/(?!@batonjs|create-baton)/;
      const ours = stdout.split('\n').filter((line: string) => !ofOthers.test(line));
      expect(ours).toEqual([]);
    },
    600_000,
  );

  it.each(runtimes)('run on Node.js $version', async ({ version, node }) => {
    expect((await run(node, ['--version'])).stdout).toMatch(`${version}.`);
    const port = await freePort();
    writeFileSync(join(folder, `hello-${version}.ts`), hello.replaceAll('4000', String(port)));
    writeFileSync(join(folder, `ask-${version}.ts`), ask.replaceAll('4000', String(port)));

    const server = spawn(node, [`hello-${version}.ts`], { cwd: folder, stdio: 'inherit' });
    try {
      await listening(server, port);
      const { stdout } = await run(node, [`ask-${version}.ts`], { cwd: folder });
      expect(stdout.trim()).not.toBe('');
    } finally {
      server.kill('SIGKILL');
    }
  });

  // All stores and both templates, each with an install of its own: `pnpm test:templates`.
  const projects = [
    { template: 'plain', store: 'sqlite', runtime: 0, said: /Packing 3 boxes\n3 boxes, order \S+\n/ },
    { template: 'streaming', store: 'memory', runtime: 1, said: /You said: hello\n/ },
  ];
  it.each(projects)(
    'and a $template project of create-baton with $store passes its test and runs',
    async ({ template, store, runtime, said }) => {
      const { node } = runtimes[runtime]!;
      const program = join(folder, 'node_modules/create-baton/dist/main.js');
      const args = [`${template}-agent`, '--store', store, '--template', template];
      await run(node, [program, ...args], { cwd: folder });
      // Its packages are those of the folder above.
      const project = { folder: join(folder, `${template}-agent`), template, node };
      const { dependencies } = JSON.parse(readFileSync(join(project.folder, 'package.json'), 'utf8'));
      const { version } = JSON.parse(readFileSync(join(root, 'packages/server/package.json'), 'utf8'));
      expect(dependencies['@batonjs/server']).toBe(`^${version}`);
      await run('tsc', ['--singleThreaded'], { cwd: project.folder }).catch((failure) => {
        throw new Error(failure.stdout);
      });
      await runScript(project, 'test');
      expect(await tryProject(project)).toMatch(said);
    },
    300_000,
  );
});

/** What users of all packages install beside them, in the versions that are installed here. */
function peers(): Record<string, string> {
  const found = publishedPackages().flatMap(({ folder, manifest }) =>
    Object.keys(manifest.peerDependencies ?? {}).map((name): [string, string] => {
      const path = join(root, folder, 'node_modules', name, 'package.json');
      return [name, JSON.parse(readFileSync(path, 'utf8')).version];
    }),
  );
  return Object.fromEntries(found);
}

async function listening(server: ChildProcess, port: number): Promise<void> {
  while (server.exitCode === null) {
    if (await answers(port)) return;
    await pause(20);
  }
  throw new Error(`The server ended with ${server.exitCode} before it listened`);
}

function answers(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const { promise, resolve } = Promise.withResolvers<boolean>();
  socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
  return promise.finally(() => socket.destroy());
}
