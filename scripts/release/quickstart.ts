import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort, run } from '../../test/kit/processes.ts';
import { codeBlocks } from '../packed/consumer.ts';
import { pnpm } from '../packed/pack.ts';
import { fetching } from './fetching.ts';
import type { Registry } from './registry.ts';
import { tool } from './tools.ts';

const execute = promisify(execFile);

/** A package manager, with how it installs what the manifest names. */
interface Installer {
  readonly name: string;
  readonly command: () => Promise<readonly [string, ...string[]]>;
  /** Files that it needs besides the manifest and `.npmrc`. */
  readonly files?: (registry: string) => Readonly<Record<string, unknown>>;
}

/** Each installs into `node_modules`. What was published a minute ago is too young for some of them. */
export const installers: readonly Installer[] = [
  { name: 'npm', command: async () => ['npm', 'install', '--no-audit', '--no-fund'] },
  {
    name: 'pnpm',
    command: async () => [pnpm, 'install'],
    files: () => ({ 'pnpm-workspace.yaml': { minimumReleaseAgeExclude: ['@batonjs/*'] } }),
  },
  {
    name: 'yarn',
    command: async () => [await tool('yarn'), 'install', '--no-immutable'],
    files: (registry) => ({
      'yarn.lock': undefined,
      '.yarnrc.yml': {
        nodeLinker: 'node-modules',
        npmRegistryServer: registry,
        unsafeHttpWhitelist: ['127.0.0.1'],
        npmMinimalAgeGate: 0,
        enableTelemetry: false,
        // What it knows of earlier registries on loopback would be wrong here.
        enableGlobalCache: false,
        globalFolder: './.yarn-global',
      },
    }),
  },
  { name: 'bun', command: async () => [await tool('bun'), 'install'] },
];

/** Makes `folder` a project with the README's two programs as JavaScript, and installs its dependencies from the registry. */
export async function installQuickstart(
  folder: string,
  { name, command, files }: Installer,
  registry: Registry,
  version: (name: string) => string,
): Promise<void> {
  const names = ['client', 'server', 'server-node', 'store-memory'].map((short) => `@batonjs/${short}`);
  const dependencies = Object.fromEntries(names.map((each) => [each, version(each)]));
  mkdirSync(folder, { recursive: true });
  const write = (file: string, text: string) => writeFileSync(join(folder, file), text);
  write(
    'package.json',
    JSON.stringify({ name: `quickstart-${name}`, private: true, type: 'module', dependencies }),
  );
  write('.npmrc', registry.npmrc);
  for (const [file, content] of Object.entries(files?.(registry.url) ?? {}))
    write(file, content === undefined ? '' : JSON.stringify(content));
  const [hello = '', ask = ''] = codeBlocks('README.md').map((code) =>
    stripTypeScriptTypes(code).replaceAll(/(['"`/:])4000\b|\bport: 4000\b/g, (found) =>
      found.startsWith('port') ? 'port: Number(process.env.PORT)' : `${found[0]}\${process.env.PORT}`,
    ),
  );
  write('hello.js', hello);
  write('ask.js', ask.replaceAll(/'(http:[^']*)'/g, '`$1`'));
  const [program, ...args] = await command();
  const env = { ...process.env, BUN_INSTALL_CACHE_DIR: join(folder, '.bun-cache') };
  await fetching(`the packages of the quickstart with ${name}`, (signal) =>
    execute(program, args, { cwd: folder, env, maxBuffer: 1e8, signal }).catch((cause) => {
      throw new Error(`${name} does not install the quickstart:\n${cause.stdout}${cause.stderr}`);
    }),
  );
}

/** Runs the two programs on a Node.js. Rejects unless the client prints the finished task. */
export async function runQuickstart(folder: string, node: string): Promise<void> {
  const env = { PORT: String(await freePort()) };
  await using server = run(node, ['hello.js'], { cwd: folder, env });
  const ended = server.ended.then((how) => `The server ended with ${how}:\n${server.output}`);
  for (;;) {
    await using client = run(node, ['ask.js'], { cwd: folder, env });
    const failure = await Promise.race([client.ended.then((how) => (how === 0 ? '' : client.output)), ended]);
    if (failure === '' && client.output.includes('TASK_STATE_COMPLETED Hello, Ada!')) return;
    // The server may not listen yet.
    if (!/ECONNREFUSED|could not be reached|reach/i.test(failure)) throw new Error(failure || client.output);
  }
}
