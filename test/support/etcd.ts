import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort, pauseProcess } from '../kit/processes.ts';
import { installWithApt } from './install.ts';
import { reportMissing } from './missing.ts';
import { quickFolder } from './quick-folder.ts';
import { lastsAsProcess } from './shared-process/handles.ts';

/** One member of a cluster. */
export interface EtcdMember {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** The folder of its data. */
  readonly dir: string;
  /** Kills it without a warning; what it has written stays. */
  kill(): Promise<void>;
  /** Starts it again on the same port and folder, unless it runs. Wait for `healthy` afterwards. */
  start(): void;
  /** Stops it: it keeps its connections and answers nothing, as behind a cable that was pulled. */
  pause(): Promise<void>;
  resume(): void;
  /** Asks it through the JSON gateway: `('maintenance/status')`. `token`: of a user who logged in. */
  ask(path: string, body?: object, token?: string): Promise<Record<string, unknown>>;
}

/** A cluster of one's own: on free ports of this machine, with a folder of its own. */
export interface EtcdCluster {
  readonly urls: readonly string[];
  readonly members: readonly EtcdMember[];
  /** The member that leads. Waits until there is one. */
  leader(): Promise<EtcdMember>;
  /** Resolves once every member that runs knows the leader and answers. */
  healthy(): Promise<void>;
  /** Writes what the cluster holds into a new file. Needs `canRestoreEtcd`. */
  backup(file: string): Promise<void>;
  /** Stops all members, and starts them with what the file holds. Needs `canRestoreEtcd`. */
  restore(file: string): Promise<void>;
  /** Ends all members and deletes their folders. */
  stop(): Promise<void>;
}

export interface EtcdClusterOptions {
  /** Default 3. */
  readonly members?: number;
  /** Keeps the data in memory where the system allows it: for tests that kill no machine. Default: on the disk. */
  readonly inMemory?: boolean;
  /** More options of each member: `['--quota-backend-bytes', '16777216']`. */
  readonly args?: readonly string[];
  /** Serves clients over TLS with these files. */
  readonly tls?: { readonly cert: string; readonly key: string; readonly clientCa: string };
}

const exec = promisify(execFile);
const howToGet = (name: string, packaged: string) =>
  `No ${name} here: \`apt-get install ${packaged}\`, or \`brew install etcd\`.`;
const answersWithinMs = 2_000;
/** A busy machine gets its time. */
const longestElectionMs = 120_000;

/** Where the program is. */
const program = (name = 'etcd'): string | undefined =>
  (process.env.PATH ?? '')
    .split(':')
    .map((folder) => join(folder, name))
    .find(existsSync);

/**
 * Whether tests that need etcd can run: it is there, or is installed now (as root on Debian). Says how to get it where
 * not. Throws there on CI, which never skips these tests.
 */
export const canStartEtcd = (): Promise<boolean> => isHere('etcd', 'etcd-server');

/** As `canStartEtcd`, for tests that make backups, too. */
export const canRestoreEtcd = async (): Promise<boolean> =>
  (await canStartEtcd()) && (await isHere('etcdctl', 'etcd-client'));

async function isHere(name: string, packaged: string): Promise<boolean> {
  if (program(name)) return true;
  await installWithApt(packaged);
  if (program(name)) return true;
  if (process.env.CI === 'true') throw new Error(howToGet(name, packaged));
  reportMissing(howToGet(name, packaged));
  return false;
}

let shared: Promise<EtcdCluster> | undefined;

/**
 * The etcd of tests that only want one: a single member that all files of a process share and that ends with the process;
 * undefined to skip them. Each takes a prefix of its own.
 */
export async function etcdForTests(): Promise<Pick<EtcdCluster, 'urls' | 'members'> | undefined> {
  if (!(await canStartEtcd())) return undefined;
  shared ??= lastsAsProcess(() => startEtcd({ members: 1, inMemory: true }));
  return shared;
}

/** Kills a member and deletes the folder should this process end without doing so, however it ends. */
function watchOver(member: ChildProcess, dir: string): void {
  const script = 'cat > /dev/null; kill -KILL "$1"; sleep 1; rm -rf "$2"';
  const watchdog = spawn('sh', ['-c', script, 'sh', String(member.pid), dir], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  // A process that ended must not be killed: another one may have its id by now.
  member.once('exit', () => watchdog.kill('SIGKILL'));
  watchdog.unref();
}

/** Starts a cluster and waits until it answers. */
export async function startEtcd(options: EtcdClusterOptions = {}): Promise<EtcdCluster> {
  const { members: count = 3, inMemory = false, args = [], tls } = options;
  const dir = await mkdtemp(join(inMemory ? quickFolder() : tmpdir(), 'baton-etcd-'));
  const ports = await freePorts(2 * count);
  const names = Array.from({ length: count }, (_, n) => `m${n}`);
  const peerUrl = (n: number) => `http://127.0.0.1:${ports[count + n]}`;
  const initial = names.map((name, n) => `${name}=${peerUrl(n)}`).join(',');
  const secure = tls
    ? [
        '--cert-file',
        tls.cert,
        '--key-file',
        tls.key,
        '--trusted-ca-file',
        tls.clientCa,
        '--client-cert-auth',
      ]
    : [];

  let failure: Error | undefined;

  function memberOf(name: string, n: number): EtcdMember {
    const port = ports[n]!;
    const url = `${tls ? 'https' : 'http'}://127.0.0.1:${port}`;
    const flags = {
      name,
      'data-dir': join(dir, name),
      'listen-client-urls': url,
      'advertise-client-urls': url,
      'listen-peer-urls': peerUrl(n),
      'initial-advertise-peer-urls': peerUrl(n),
      'initial-cluster': initial,
      'initial-cluster-token': dir,
      logger: 'zap',
      'log-level': 'fatal',
      'snapshot-count': '10000',
    };
    const command = [...Object.entries(flags).flatMap(([flag, value]) => [`--${flag}`, value]), ...secure];
    let child: ChildProcess | undefined;
    let isKilled = false;
    return {
      url,
      port,
      dir: join(dir, name),
      get pid() {
        return child?.pid ?? 0;
      },
      start() {
        if (child && child.exitCode === null && child.signalCode === null) return;
        child = spawn(program()!, [...command, ...args], {
          cwd: dir,
          stdio: ['ignore', 'ignore', 'pipe'],
        });
        watchOver(child, dir);
        let log = '';
        child.stderr!.on('data', (text) => {
          log = `${log}${text}`.slice(-4_000);
        });
        isKilled = false;
        child.once('exit', () => {
          if (!isKilled) failure = new Error(`A member of etcd ended by itself:\n${log}`);
        });
      },
      async kill() {
        if (!child || child.exitCode !== null || child.signalCode !== null) return;
        const exited = once(child, 'exit');
        isKilled = true;
        child.kill('SIGKILL');
        await exited;
      },
      pause: async () => {
        if (child?.pid) await pauseProcess(child.pid);
      },
      resume: () => void child?.kill('SIGCONT'),
      async ask(path, body = {}, token = '') {
        const response = await fetch(`${url}/v3/${path}`, {
          method: 'POST',
          headers: token ? { authorization: token } : {},
          body: JSON.stringify(body),
          signal: AbortSignal.timeout(answersWithinMs),
        });
        return (await response.json()) as Record<string, unknown>;
      },
    };
  }

  const members = names.map(memberOf);
  for (const member of members) member.start();

  /** What the members say that answer. */
  async function statuses() {
    if (failure) throw failure;
    const asked = members.map(async (member) => ({ member, ...(await member.ask('maintenance/status')) }));
    const settled = await Promise.allSettled(asked);
    return settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value as Status] : []));
  }

  /** Asks again until there is an answer. */
  async function agreed<T>(answerOf: (all: readonly Status[]) => T | undefined): Promise<T> {
    for (const end = performance.now() + longestElectionMs; performance.now() < end; await sleep(20)) {
      const answer = answerOf(await statuses());
      if (answer !== undefined) return answer;
    }
    throw new Error('The members of etcd have not agreed on a leader');
  }

  const leader = (): Promise<EtcdMember> =>
    agreed((all) => {
      // A leader that was cut off still believes that it leads: the latest term counts.
      const leading = all
        .filter(({ header, leader }) => header !== undefined && header.member_id === leader)
        .sort((a, b) => Number(b.raftTerm) - Number(a.raftTerm));
      return leading[0]?.member;
    });

  async function healthy(): Promise<void> {
    await agreed((all) => {
      const leaders = new Set(all.map(({ leader = '0' }) => leader));
      const isHealthy = all.length === members.length && leaders.size === 1 && !leaders.has('0');
      return isHealthy || undefined;
    });
  }

  async function backup(file: string): Promise<void> {
    await exec(program('etcdctl')!, ['--endpoints', members[0]!.url, 'snapshot', 'save', file]);
  }

  async function restore(file: string): Promise<void> {
    await Promise.all(members.map((member) => member.kill()));
    // Since etcd 3.6, `etcdctl` no longer does it.
    const restoring = program('etcdutl') ?? program('etcdctl')!;
    for (const [n, name] of names.entries()) {
      await rm(join(dir, name), { recursive: true });
      const flags = {
        name,
        'data-dir': join(dir, name),
        'initial-cluster': initial,
        'initial-cluster-token': dir,
        'initial-advertise-peer-urls': peerUrl(n),
      };
      const options = Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`);
      await exec(restoring, ['snapshot', 'restore', file, ...options]);
    }
    for (const member of members) member.start();
    await healthy();
  }

  async function stop(): Promise<void> {
    await Promise.all(members.map((member) => member.kill()));
    await rm(dir, { recursive: true, force: true });
  }

  if (!tls) await healthy();
  return { urls: members.map(({ url }) => url), members, leader, healthy, backup, restore, stop };
}

interface Status {
  readonly member: EtcdMember;
  readonly header?: { readonly member_id: string };
  readonly leader?: string;
  readonly raftTerm?: string;
}

/** Ports that are free, all of them different. */
async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) ports.add(await freePort());
  return [...ports];
}
