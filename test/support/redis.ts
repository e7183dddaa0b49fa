import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../kit/processes.ts';
import { installWithApt } from './install.ts';
import { reportMissing } from './missing.ts';
import { quickFolder } from './quick-folder.ts';
import { lastsAsProcess } from './shared-process/handles.ts';

const exec = promisify(execFile);

/** The two families of programs that speak the same protocol. */
export type RedisFamily = 'redis' | 'valkey';

/** A server of one's own: on a free port of this machine, with a folder of its own. */
export interface RedisServer {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** Runs one command through the family's own command line client. Rejects with what the server refuses with. */
  cli(...args: readonly string[]): Promise<string>;
  /** Kills it without a warning; what it has written stays. */
  kill(): Promise<void>;
  /** Starts it again on the same port and folder; `empty`: without what it had kept. */
  restart(options?: { readonly empty?: boolean }): Promise<void>;
  /** Ends it and deletes its folder. */
  stop(): Promise<void>;
}

export interface StartOptions {
  readonly family?: RedisFamily;
  /** Default `always`: nothing that was acknowledged is lost with the server. */
  readonly appendfsync?: 'always' | 'everysec' | 'no';
  /** More lines of its configuration: `['--maxmemory', '100mb']`. */
  readonly args?: readonly string[];
  /** Where its own folder lies. Default: in memory where there is room. */
  readonly folder?: string;
}

const howToGetIt = {
  redis: 'No redis-server here: `apt-get install redis-server`, `brew install redis`, or set REDIS_URL.',
  valkey: 'No valkey-server here: `apt-get install valkey-server` or `brew install valkey`.',
};

/**
 * Whether tests that need the server can run: it is there, or is installed now (as root on Debian). Says how to get it
 * where not. Throws there on CI, which never skips these tests.
 */
export async function canStart(family: RedisFamily = 'redis'): Promise<boolean> {
  if (await isThere(family)) return true;
  await installWithApt(`${family}-server`, { backports: family === 'valkey' });
  if (await isThere(family)) return true;
  if (process.env.CI === 'true') throw new Error(howToGetIt[family]);
  reportMissing(howToGetIt[family]);
  return false;
}

const isThere = (family: RedisFamily): Promise<boolean> =>
  exec(`${family}-server`, ['--version']).then(
    () => true,
    () => false,
  );

let shared: Promise<RedisServer> | undefined;

/**
 * The Redis that tests without a wish of their own use: `REDIS_URL`, or one that all files of a process share and that ends with
 * the process; undefined to skip them. Each takes a prefix of its own.
 */
export async function redisForTests(): Promise<Pick<RedisServer, 'url'> | undefined> {
  const url = process.env.REDIS_URL;
  if (url) return { url };
  if (!(await canStart())) return undefined;
  shared ??= lastsAsProcess(startRedis);
  return shared;
}

/** Kills a server and deletes its folder should this process end without doing so, however it ends. */
function watchOver(server: ChildProcess, dir: string): void {
  const script = 'cat > /dev/null; kill -9 "$1"; rm -rf "$2"';
  const watchdog = spawn('sh', ['-c', script, 'sh', String(server.pid), dir], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  // A process that ended must not be killed: another one may have its id by now.
  server.once('exit', () => watchdog.kill('SIGKILL'));
  watchdog.unref();
}

/** Resolves when the server says that it accepts connections; to its log if it ends before that. */
function untilReady({ stdout }: ChildProcess): Promise<string | undefined> {
  if (!stdout) throw new Error('The log of the server is needed');
  let log = '';
  return new Promise((resolve) => {
    const take = (chunk: Buffer) => {
      log += chunk;
      if (!log.includes('Ready to accept connections')) return;
      // What it writes later is read and dropped: a full pipe would stop the server.
      stdout.off('data', take).resume();
      resolve(undefined);
    };
    stdout.on('data', take).once('end', () => resolve(log));
  });
}

/** Starts a server and waits until it answers. */
export async function startRedis(options: StartOptions = {}): Promise<RedisServer> {
  const { family = 'redis', appendfsync = 'always', args = [], folder = quickFolder() } = options;
  const dir = await mkdtemp(join(folder, `baton-${family}-`));
  // The bus of a Cluster has the port 10,000 above it.
  const port = await freePort(10_000);
  const cli = async (...command: readonly string[]) => {
    // What holds NUL cannot be an argument of a program.
    const last = command.at(-1)?.includes('\0') ? command.at(-1) : undefined;
    const flags = ['-p', String(port), ...(last ? ['-x'] : [])];
    const running = exec(`${family}-cli`, [...flags, ...(last ? command.slice(0, -1) : command)]);
    running.child.stdin?.end(last);
    const answer = (await running).stdout.trim();
    if (/^(ERR|IOERR|BUSYKEY|MOVED|CLUSTERDOWN) /.test(answer)) throw new Error(`${command[0]}: ${answer}`);
    return answer;
  };
  let child: ChildProcess | undefined;

  async function start(): Promise<void> {
    const basics = { port, dir, bind: '127.0.0.1', save: '', appendonly: 'yes', appendfsync };
    const flags = Object.entries(basics).flatMap(([name, value]) => [`--${name}`, String(value)]);
    child = spawn(`${family}-server`, [...flags, ...args], { stdio: ['ignore', 'pipe', 'ignore'] });
    watchOver(child, dir);
    const log = await untilReady(child);
    if (log !== undefined) throw new Error(`${family}-server on port ${port} did not start: ${log}`);
  }

  async function kill(): Promise<void> {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }

  await start();
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    get pid() {
      return child?.pid ?? 0;
    },
    cli,
    kill,
    async restart({ empty = false } = {}) {
      await kill();
      if (empty) await rm(join(dir, 'appendonlydir'), { recursive: true, force: true });
      await start();
    },
    async stop() {
      await kill();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** Three or more primaries that share all slots among them. */
export interface RedisCluster {
  readonly nodes: readonly RedisServer[];
  readonly urls: readonly string[];
  stop(): Promise<void>;
}

export async function startCluster({
  primaries = 3,
  ...options
}: StartOptions & { primaries?: number } = {}) {
  const args = ['--cluster-enabled', 'yes', '--cluster-node-timeout', '2000', ...(options.args ?? [])];
  const nodes = await Promise.all(Array.from({ length: primaries }, () => startRedis({ ...options, args })));
  const share = Math.ceil(16_384 / primaries);
  for (const [n, node] of nodes.entries()) {
    const slots = Array.from({ length: share }, (_, slot) => n * share + slot).filter(
      (slot) => slot < 16_384,
    );
    await node.cli('CLUSTER', 'ADDSLOTS', ...slots.map(String));
    await node.cli('CLUSTER', 'SET-CONFIG-EPOCH', String(n + 1));
    if (n > 0) await node.cli('CLUSTER', 'MEET', '127.0.0.1', String(nodes[0]!.port));
  }
  for (const node of nodes) {
    for (let attempts = 0; !(await isWhole(node, primaries)); attempts++) {
      if (attempts > 500) throw new Error('The Cluster does not come together');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
  const cluster: RedisCluster = {
    nodes,
    urls: nodes.map(({ url }) => url),
    stop: async () => void (await Promise.all(nodes.map((node) => node.stop()))),
  };
  return cluster;
}

async function isWhole(node: RedisServer, size: number): Promise<boolean> {
  const info = await node.cli('CLUSTER', 'INFO');
  return /cluster_state:ok/.test(info) && info.includes(`cluster_known_nodes:${size}`);
}
