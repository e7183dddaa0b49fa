import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../kit/processes.ts';
import { root } from '../repository/source-files.ts';
import { installWithApt } from './install.ts';
import { reportMissing } from './missing.ts';
import { quickFolder } from './quick-folder.ts';
import { lastsAsProcess } from './shared-process/handles.ts';

const exec = promisify(execFile);

/** A server of one's own: on a free port of this machine, with a folder of its own. */
export interface PostgresServer {
  readonly url: string;
  readonly port: number;
  /** The process id of the server itself, the parent of its connections' processes. */
  readonly pid: number;
  /** Runs one of its programs, such as `pg_dump`, to its end. Rejects if it fails; resolves to what it printed. */
  run(program: string, ...args: readonly string[]): Promise<string>;
  /** The folder on a disk of its own, if it was started with one. */
  readonly disk: string;
  /** Makes that disk larger: `64m`. */
  growDisk(size: string): Promise<void>;
  /** Kills it without a warning; what it has written stays. */
  kill(): Promise<void>;
  /** Starts it again on the same port and folder. */
  restart(): Promise<void>;
  /** Ends it and deletes its folder. */
  stop(): Promise<void>;
}

const howToGetIt =
  'No PostgreSQL here: `apt-get install postgresql`, `brew install postgresql`, or set POSTGRES_URL.';

/** The folder with `initdb` and `postgres`: Debian keeps one for each version, and none of them on the PATH. */
function binaries(): string | undefined {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    ...versions.map((version) => join(debian, version, 'bin')),
    ...(process.env.PATH ?? '').split(':'),
  ];
  return folders.find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')));
}

/**
 * Whether tests that need PostgreSQL can run: it is there, or is installed now (as root on Debian). Says how to get it
 * where not. Throws there on CI, which never skips these tests.
 */
export async function canStartPostgres(): Promise<boolean> {
  if (binaries()) return true;
  await installWithApt('postgresql');
  if (binaries()) return true;
  if (process.env.CI === 'true') throw new Error(howToGetIt);
  reportMissing(howToGetIt);
  return false;
}

let shared: Promise<PostgresServer> | undefined;

/**
 * The PostgreSQL that tests use that only want one: `POSTGRES_URL`, or one that all files of a process share and that ends with
 * the process; undefined to skip them. Each takes a schema of its own.
 */
export async function postgresForTests(): Promise<Pick<PostgresServer, 'url'> | undefined> {
  const url = process.env.POSTGRES_URL;
  if (url) return { url };
  if (!(await canStartPostgres())) return undefined;
  // Tests that kill no machine lose nothing without `fsync`.
  shared ??= lastsAsProcess(() => startPostgres(['-c', 'fsync=off']));
  return shared;
}

/** The user that the server runs as: it refuses root. */
async function unprivileged(): Promise<{ uid?: number; gid?: number }> {
  if (process.getuid?.() !== 0) return {};
  const idOf = async (flag: string) => Number((await exec('id', [flag, 'nobody'])).stdout);
  return { uid: await idOf('-u'), gid: await idOf('-g') };
}

const initdb = ['-U', 'postgres', '--auth=trust', '--no-sync', '-E', 'UTF8', '--locale=C'];

/**
 * Fills the folder of a server as `initdb` does. That takes most of the time of a start, so a copy of what it wrote once is
 * kept beside the packages.
 */
async function makeData(bin: string, data: string, user: { uid?: number; gid?: number }): Promise<void> {
  const { stdout } = await exec(join(bin, 'postgres'), ['--version']);
  const cache = join(root, 'node_modules/.cache');
  const kept = join(cache, `initdb ${/\d\S*/.exec(stdout)?.[0]}`);
  if (existsSync(kept)) {
    await exec('cp', ['-Rp', kept, data]);
    if (user.uid !== undefined) await exec('chown', ['-R', `${user.uid}:${user.gid}`, data]);
    return;
  }
  await exec(join(bin, 'initdb'), ['-D', data, ...initdb], { ...user, cwd: dirname(data) });
  await mkdir(cache, { recursive: true });
  const copied = `${kept}.${process.pid}`;
  await exec('cp', ['-Rp', data, copied]);
  // Another process may have been faster.
  await rename(copied, kept).catch(() => rm(copied, { recursive: true }));
}

/** Kills a server and deletes its folder should this process end without doing so, however it ends. */
function watchOver(server: ChildProcess, dir: string): void {
  const script = 'cat > /dev/null; kill -QUIT "$1"; sleep 1; rm -rf "$2"';
  const watchdog = spawn('sh', ['-c', script, 'sh', String(server.pid), dir], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  // A process that ended must not be killed: another one may have its id by now.
  server.once('exit', () => watchdog.kill('SIGKILL'));
  watchdog.unref();
}

/** Whether a server can be given a small disk: as root on Linux. Says so where not. */
export async function canHaveDisk(): Promise<boolean> {
  const isPossible = await exec('unshare', ['--mount', 'true']).then(
    () => process.getuid?.() === 0,
    () => false,
  );
  if (!isPossible) reportMissing('No disk of its own for PostgreSQL here: run the tests as root on Linux.');
  return isPossible;
}

/** Mounts a disk that only the server sees, and that goes away with it. */
const mountAndRun = `disk=$1 size=$2 uid=$3 gid=$4; shift 4
mount -t tmpfs -o "size=$size,uid=$uid,gid=$gid,mode=700" tmpfs "$disk" &&
exec setpriv --reuid "$uid" --regid "$gid" --clear-groups "$@"`;

/**
 * Starts a server and waits until it answers. `args`: more options of its configuration: `['-c', 'fsync=off']`.
 * `diskSize`: gives it a disk of this size besides (`12m`), if `canHaveDisk`. `folder`: where its own one lies, for those to
 * whom it matters that a commit waits for the disk.
 */
export async function startPostgres(
  args: readonly string[] = [],
  { diskSize, folder = quickFolder() }: { readonly diskSize?: string; readonly folder?: string } = {},
): Promise<PostgresServer> {
  const bin = binaries()!;
  const user = await unprivileged();
  const dir = await mkdtemp(join(folder, 'baton-postgres-'));
  await chmod(dir, 0o700);
  if (user.uid !== undefined) await chown(dir, user.uid, user.gid!);
  const port = await freePort();
  const data = join(dir, 'data');
  await makeData(bin, data, user);
  const disk = join(dir, 'disk');
  if (diskSize) await mkdir(disk);
  let child: ChildProcess | undefined;

  async function start(): Promise<void> {
    const options = ['-p', String(port), '-c', 'listen_addresses=127.0.0.1', '-k', dir, ...args];
    const command = [join(bin, 'postgres'), '-D', data, ...options];
    const mounting = ['--mount', 'sh', '-c', mountAndRun, 'sh', disk, diskSize, user.uid, user.gid].map(
      String,
    );
    const [program, ...rest] = diskSize ? ['unshare', ...mounting, ...command] : command;
    const server = spawn(program!, rest, {
      ...(diskSize ? {} : user),
      cwd: dir,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    child = server;
    watchOver(server, dir);
    let log = '';
    await new Promise<void>((resolve, reject) => {
      server.stderr.on('data', (text) => {
        log = `${log}${text}`.slice(-4_000);
        if (/ready to accept connections/.test(log)) resolve();
      });
      server.once('exit', () => reject(new Error(`PostgreSQL on port ${port} ended:\n${log}`)));
    });
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    // A server that is stopped takes no signal.
    child.kill('SIGCONT');
    child.kill(signal);
    await exited;
  }

  await start();
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    port,
    get pid() {
      return child?.pid ?? 0;
    },
    disk,
    async growDisk(size) {
      const remount = ['mount', '-o', `remount,size=${size}`, disk];
      await exec('nsenter', ['--mount', '--target', String(child?.pid), ...remount]);
    },
    run: async (program, ...args) => (await exec(join(bin, program), args, { cwd: dir })).stdout,
    // SIGQUIT ends all of its processes at once, without writing anything: the next start recovers as after a crash.
    kill: () => end('SIGQUIT'),
    async restart() {
      await end('SIGQUIT');
      await start();
    },
    async stop() {
      await end('SIGQUIT');
      await rm(dir, { recursive: true, force: true });
    },
  };
}
