import { type Commit, type Committed, granted, StoreError } from '@batonjs/store';
import type { Cluster } from '../cluster/cluster.ts';
import type { WriteGroups, Written } from '../cluster/write-groups.ts';
import type { ClusterClock } from '../layout/cluster-clock.ts';
import { inside, type Keys } from '../layout/keys.ts';
import { largestText, type Parts, type Upload } from '../layout/parts.ts';
import type { Wakeups } from '../notifications/wakeups.ts';
import type { PushRows } from '../webhooks/push-rows.ts';
import type { RangeRequest, RangeResponse, RequestOp } from '../wire/messages.ts';
import { type CommitPlan, logWrite, type Moment, type OnceValue, planCommit } from './commit-plan.ts';
import { knownOf, readsOf, readsPerTask } from './known-tasks.ts';
import type { Lanes } from './lanes.ts';
import type { PreparedCommit } from './prepared-commit.ts';
import type { KnownTask, TaskCache } from './task-cache.ts';
import type { WaitingCounts } from './waiting-counts.ts';

export interface CommitsOptions {
  readonly cluster: Cluster;
  readonly keys: Keys;
  readonly clock: ClusterClock;
  readonly groups: WriteGroups;
  readonly parts: Parts;
  readonly cache: TaskCache;
  readonly lanes: Lanes;
  readonly wakeups: Wakeups;
  readonly waiting: WaitingCounts;
  readonly rows: PushRows;
}

/** What was read for a commit. */
interface Found extends KnownTask {
  readonly once: OnceValue | undefined;
  /** Whether the log holds the facts of this commit, or the turn its release. */
  readonly isDone: boolean;
}

/** Writes commits, each in a transaction that compares the revisions that it was decided on. */
export class Commits {
  readonly #options: CommitsOptions;

  constructor(options: CommitsOptions) {
    this.#options = options;
  }

  run(prepared: PreparedCommit): Promise<Committed> {
    return this.#options.lanes.run(prepared.task, () => this.#commit(prepared));
  }

  async #commit(prepared: PreparedCommit): Promise<Committed> {
    const { cache, clock, keys, rows, wakeups } = this.#options;
    const { commit, task } = prepared;
    if (commit.turn?.acquire) await clock.follow();
    // Nearly always this process wrote the task last, and the commit needs no read.
    let found: Found | undefined = expected(commit, cache.get(task));
    let isFresh = found === undefined;
    let isRepeated = false;
    for (;;) {
      found ??= await this.#read(prepared);
      if (isRepeated && found.isDone) return this.#found(prepared, found);
      if (found.once) return { version: found.once.first, repeated: true };
      if (found.pushes && rows.isLarge(found.pushes) && (await rows.shrink(task, found.pushes))) {
        found = undefined;
        isFresh = true;
        continue;
      }
      let plan: CommitPlan;
      try {
        plan = planCommit(keys, prepared, found, await this.#moment(commit));
      } catch (refusal) {
        if (isFresh) throw refusal;
        // What this process remembers may be old: only what etcd says is a reason to refuse.
        found = undefined;
        isFresh = true;
        continue;
      }
      const written = await this.#write(prepared, plan);
      if (written.succeeded) {
        const { committed, pushes } = plan;
        const row = { ...plan.task, logRevision: written.revision };
        if (row.turnRevision === 0) Object.assign(row, { turnRevision: written.revision });
        const revised = pushes && plan.writesPushes ? { ...pushes, revision: written.revision } : pushes;
        cache.set(task, { task: row, pushes: revised });
        if (plan.entry) wakeups.announceTask(task, committed.version, written.revision);
        for (const queue of plan.queues) wakeups.announceQueue(queue, written.revision);
        return committed;
      }
      isRepeated ||= written.isRepeated;
      found = this.#foundIn(prepared, written.reads);
      isFresh = true;
    }
  }

  async #moment({ turn }: Commit): Promise<Moment> {
    const { clock, waiting } = this.#options;
    const moment = { now: Date.now(), leaseNow: turn?.acquire ? clock.now() : 0, waiting: 0 };
    if (turn?.waitingAtMost === undefined) return moment;
    return { ...moment, waiting: await waiting.of(turn.queue, turn.waitingAtMost) };
  }

  async #write(
    prepared: PreparedCommit,
    { entry, compare, writes, task: row }: CommitPlan,
  ): Promise<Written> {
    const { cache, groups, keys, parts } = this.#options;
    const { task, snapshot } = prepared;
    const uploads: Upload[] = [];
    const all: RequestOp[] = [...writes];
    const put = async (key: string, text: string): Promise<string | undefined> => {
      if (Buffer.byteLength(text) <= largestText) {
        all.push({ put: { key, value: text } });
        return undefined;
      }
      const upload = await parts.upload(task, text, prepared.commit.commitId);
      uploads.push(upload);
      all.push({ put: { key, value: upload.value } }, ...upload.keep);
      return upload.id;
    };
    try {
      if (entry) await put(entry.key, entry.json);
      let after = row;
      if (snapshot) {
        after = { ...row, snapshotParts: await put(keys.snapshot(task), snapshot.json) };
        Object.assign(row, { snapshotParts: after.snapshotParts });
        const old = cache.get(task)?.task?.snapshotParts;
        if (old !== undefined) all.push({ delete: inside(keys.partsOf(task, old)) });
      }
      all.push(logWrite(keys, task, after));
      const reads = this.#reads(prepared);
      return await groups.run({ task, compare, writes: all, reads, isAlone: uploads.length > 0 });
    } catch (error) {
      cache.forget(task);
      throw error;
    } finally {
      for (const { done } of uploads) done();
    }
  }

  async #read(prepared: PreparedCommit): Promise<Found> {
    return this.#foundIn(prepared, await this.#options.cluster.read(this.#reads(prepared)));
  }

  #reads({ commit, task }: PreparedCommit): RangeRequest[] {
    const { keys } = this.#options;
    const { once, expectedVersion, facts } = commit;
    const reads = readsOf(keys, task);
    if (once !== undefined) reads.push({ key: keys.once(task, once) });
    else if (expectedVersion !== 'open') reads.push({ key: keys.fact(task, expectedVersion + facts.length) });
    return reads;
  }

  #foundIn({ commit, task }: PreparedCommit, ranges: readonly RangeResponse[]): Found {
    const { commitId, facts, once: key } = commit;
    const known = knownOf(ranges);
    this.#options.cache.set(task, known);
    const last = ranges[readsPerTask]?.kvs[0]?.value;
    const once: OnceValue | undefined = key !== undefined && last ? JSON.parse(String(last)) : undefined;
    const isDone =
      facts.length === 0
        ? known.task?.commitId === commitId
        : key !== undefined
          ? once?.commitId === commitId
          : last !== undefined && JSON.parse(String(last)).commitId === commitId;
    return { ...known, once, isDone };
  }

  /** The outcome of a commit whose answer was lost: the log holds it. */
  #found({ commit }: PreparedCommit, { task, once }: Found): Committed {
    if (!task) throw new StoreError('UNAVAILABLE', `Task ${commit.taskId} was deleted while it was written`);
    const { expectedVersion, facts } = commit;
    const version = expectedVersion === 'open' ? once!.last : expectedVersion + facts.length;
    return { version, lease: granted(task.row, commit) };
  }
}

/** What the commit most likely finds: what this process remembers, or nothing where a log begins. */
function expected({ expectedVersion }: Commit, known: KnownTask | undefined): Found | undefined {
  if (!known && expectedVersion !== 0) return undefined;
  return { task: known?.task, pushes: known?.pushes, once: undefined, isDone: false };
}
