import { setTimeout as sleep } from 'node:timers/promises';
import { StoreError, type TaskStore } from '@batonjs/store';
import { etcdStore } from '@batonjs/store-etcd';
import { chunkAfter, untilItWorks } from '../../test/kit/task-logs.ts';
import { canStartEtcd, type EtcdCluster, startEtcd } from '../../test/support/etcd.ts';
import { between, seeded } from '../workload/random.ts';

export interface LeaderKillsOptions {
  readonly commits: number;
  readonly seed: string;
}

export interface LeaderKillsReport {
  /** How often the leader was killed. */
  readonly kills: number;
  readonly acknowledged: number;
  /** How often a call did not say whether a commit happened. */
  readonly unknown: number;
  /** Acknowledged commits that the log does not hold. */
  readonly lost: number;
  /** Commits that the log holds more than once, or in another order. */
  readonly disordered: number;
  /** Members that keep something else than the first. */
  readonly different: number;
  readonly details: readonly string[];
}

/** Tasks that are written without a pause meanwhile, so that each kill falls into some commits. */
const busyTasks = ['busy 1', 'busy 2', 'busy 3'];

/** What each of them has acknowledged since one kill and before the next, however slow the machine is. */
const commitsBetweenKills = 3;

/** Writes one log and remembers what was acknowledged. */
class Writer {
  readonly acknowledged: string[] = [];
  unknown = 0;
  readonly #store: TaskStore;
  readonly taskId: string;
  version = 0;

  constructor(store: TaskStore, taskId: string) {
    this.#store = store;
    this.taskId = taskId;
  }

  /** Adds the next commit. Where the outcome is unknown, the log is asked by the commit's id, as a server does. */
  async commit(): Promise<void> {
    const commit = chunkAfter(this.version, { taskId: this.taskId });
    for (;;) {
      try {
        await this.#store.commit(commit);
        this.acknowledged.push(commit.commitId);
        break;
      } catch (error) {
        if (!StoreError.is(error)) throw error;
        this.unknown++;
        const [fact] = await untilItWorks(() => this.#store.readFacts('s', this.taskId, this.version, 1));
        if (fact?.commitId === commit.commitId) break;
        if (fact || error.code !== 'UNAVAILABLE')
          throw new Error(
            `${this.taskId}: ${commit.commitId} came upon ${fact?.commitId ?? 'a log that lost facts'}`,
          );
      }
    }
    this.version++;
  }
}

/** Kills the leader at every commit, then compares what was acknowledged with what the members keep. */
export async function leaderKills({ commits, seed }: LeaderKillsOptions): Promise<LeaderKillsReport> {
  if (!(await canStartEtcd())) throw new Error('There is no etcd to put to the proof');
  const random = seeded(seed);
  const cluster = await startEtcd();
  const store = etcdStore(cluster.urls);
  try {
    const writer = new Writer(store, 'task');
    const busy = busyTasks.map((taskId) => new Writer(store, taskId));
    let isOver = false;
    const broken: string[] = [];
    const note = (error: unknown) => {
      broken.push(String(error));
      isOver = true;
    };
    const working = busy.map(async (one) => {
      while (!isOver) await one.commit().catch(note);
    });
    for (let n = 0; n < commits && !isOver; n++) {
      const before = busy.map(({ acknowledged }) => acknowledged.length);
      const leader = await cluster.leader();
      // Before the commit is sent, while it is under way, or as soon as it is acknowledged.
      const kill = [
        async () => {
          await leader.kill();
          await writer.commit();
        },
        async () => {
          const committed = writer.commit();
          await sleep(between(random, 0, 4));
          await leader.kill();
          await committed;
        },
        async () => {
          await writer.commit();
          await leader.kill();
        },
      ];
      await kill[n % kill.length]!().catch(note);
      leader.start();
      await cluster.healthy();
      while (
        !isOver &&
        busy.some(({ acknowledged }, i) => acknowledged.length < before[i]! + commitsBetweenKills)
      )
        await sleep(5);
    }
    isOver = true;
    await Promise.all(working);
    const report = await compare(cluster, store, [writer, ...busy], commits);
    return { ...report, details: [...broken, ...report.details] };
  } finally {
    await store.close();
    await cluster.stop();
  }
}

async function compare(
  cluster: EtcdCluster,
  store: TaskStore,
  writers: readonly Writer[],
  kills: number,
): Promise<LeaderKillsReport> {
  const details: string[] = [];
  let [lost, disordered] = [0, 0];
  for (const { taskId, acknowledged, version } of writers) {
    const facts = await store.readFacts('s', taskId, 0, 1e6);
    const kept = facts.map(({ commitId }) => commitId);
    const missing = acknowledged.filter((commitId) => !kept.includes(commitId));
    const wrong = kept.filter((commitId, n) => commitId !== `commit ${n + 1}`);
    lost += missing.length;
    disordered += wrong.length + Math.abs(kept.length - version);
    for (const commitId of missing) details.push(`${taskId}: ${commitId} was acknowledged and is lost`);
    for (const commitId of wrong) details.push(`${taskId}: ${commitId} is not in its place`);
    if (kept.length !== version) details.push(`${taskId}: has ${kept.length} facts instead of ${version}`);
  }
  const contents = await Promise.all(cluster.members.map(contentOf));
  const different = contents.filter((content) => content !== contents[0]).length;
  if (different > 0) details.push(`${different} members keep something else than the first`);
  return {
    kills,
    acknowledged: writers.reduce((sum, one) => sum + one.acknowledged.length, 0),
    unknown: writers.reduce((sum, one) => sum + one.unknown, 0),
    lost,
    disordered,
    different,
    details,
  };
}

/** All keys and values of a member, as it has them itself. */
async function contentOf(member: EtcdCluster['members'][number]): Promise<string> {
  // A read of the cluster waits until the member has applied all that is written.
  await member.ask('kv/range', { key: 'AA==', limit: 1 });
  const all = { key: 'AA==', range_end: 'AA==', serializable: true };
  return JSON.stringify((await member.ask('kv/range', all)).kvs);
}
