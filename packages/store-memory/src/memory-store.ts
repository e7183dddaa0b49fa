import {
  admit,
  type Commit,
  type Committed,
  diverged,
  factsInOrder,
  frozenJson,
  granted,
  leaseReading,
  mustHaveRoom,
  type PushConfigStore,
  type Row,
  steadyNow,
  type TaskStore,
} from '@batonjs/store';
import { Buckets } from './buckets.ts';
import { ClosedLogs } from './logs/closed-logs.ts';
import { Log, Logs } from './logs/log.ts';
import { Outbox } from './outbox.ts';
import { pushConfigs } from './push-configs.ts';
import { isWaiting, ReadyQueue } from './ready-queue.ts';
import { Subscribers } from './subscribers.ts';
import { TaskIndex } from './task-index.ts';

export interface MemoryStoreOptions {
  /** The clock of deadlines, in milliseconds since 1970. Default: the wall clock, except that it never goes back. */
  readonly now?: () => number;
  /** The clock of leases, in milliseconds since any moment; never set. Default `performance.now`. */
  readonly monotonic?: () => number;
  /**
   * How many bytes ended tasks may take, about. Beyond, the store deletes those that ended first, except where a webhook
   * is still to be notified. Open tasks are never deleted. Default 256 MiB; `Infinity` keeps all.
   */
  readonly closedBytes?: number;
}

/**
 * Tasks in the memory of this process, gone when it ends. Servers and workers share tasks by sharing one store object.
 * What it returns is a copy, or frozen and shared between readers.
 */
export function memoryStore({
  now = steadyNow,
  monotonic = () => performance.now(),
  closedBytes = 256 * 1024 * 1024,
}: MemoryStoreOptions = {}): TaskStore & PushConfigStore {
  const logs = new Logs();
  const index = new TaskIndex();
  const ready = new ReadyQueue(logs);
  const subscribers = new Subscribers();
  const outbox = new Outbox(logs, subscribers);
  const closed = new ClosedLogs(closedBytes);
  const buckets = new Buckets();
  const identity = crypto.randomUUID();

  /** Every change of a row goes through here. */
  function replace(log: Log, before: Row | undefined, after: Row | undefined): void {
    ready.replace(log, before, after, now());
    if (after) {
      log.row = after;
      index.changed(log, before);
    } else index.deleted(log);
  }

  function remove(log: Log): void {
    for (const webhook of outbox.get(log).values()) outbox.remove(webhook);
    replace(log, log.row, undefined);
    logs.delete(log);
    closed.delete(log);
  }

  /** Apart from the async function: an async function with many locals costs several times as much. */
  function commit(commit: Commit): Committed {
    const { scope, taskId, commitId, once } = commit;
    const known = logs.get(scope, taskId);
    const counted = once === undefined ? undefined : known?.usedAt(once);
    if (counted !== undefined) return { version: counted, repeated: true };

    const before = known?.row;
    const length = before?.version ?? 0;
    const after = admit(before, commit, monotonic());
    mustHaveRoom(after, commit, (queue) => ready.waiting(queue));
    const row = commit.head ? { ...after, head: Object.freeze({ ...commit.head }) } : after;
    const lastAt = commit.expectedVersion === 'open' ? known?.facts.at(length)?.fact.at : undefined;
    const facts = factsInOrder(commit, lastAt).map((fact, n) =>
      Object.freeze({ version: length + n + 1, commitId, fact: frozenJson(fact) }),
    );
    const snapshot = frozenJson(commit.snapshot);

    // Everything that can fail is above: from here on the commit is applied.
    const log = known ?? new Log(scope, taskId, row);
    if (!known) logs.add(log);
    for (const fact of facts) log.facts.push(fact);
    if (snapshot) log.snapshot = snapshot;
    if (once !== undefined) log.use(once, length + 1);
    replace(log, before, row);
    outbox.grew(log);
    if (facts.length > 0) subscribers.notify({ scope, taskId }, row.version);
    if (isWaiting(row)) subscribers.notify({ queue: row.queue });
    if (row.head.closed) {
      log.close();
      closed.add(log);
      closed.surplus((one) => outbox.isUndelivered(one)).forEach(remove);
    }
    return { version: row.version, lease: granted(row, commit) };
  }

  return {
    ...pushConfigs(outbox, now),
    schedules: true,

    async commit(changes) {
      return commit(changes);
    },

    async load(scope, taskId) {
      const log = logs.get(scope, taskId);
      if (!log) return undefined;
      const { row, snapshot, facts } = log;
      return { head: row.head, version: row.version, snapshot, facts: facts.after(snapshot?.version ?? 0) };
    },

    async readFacts(scope, taskId, after, limit, lastCommitId) {
      const facts = logs.get(scope, taskId)?.facts;
      if (lastCommitId !== undefined && facts?.at(after)?.commitId !== lastCommitId)
        throw diverged(taskId, after);
      return facts?.after(after, limit) ?? [];
    },

    async list(scope, query) {
      return index.page(scope, query);
    },

    async subscribe(topic, notify) {
      return subscribers.add(topic, notify);
    },

    async claim(request) {
      const { holder, queue } = request;
      return ready.candidates(request, now(), monotonic()).map(({ log, row, cause }) => {
        replace(log, log.row, row);
        const { scope, taskId } = log;
        return { scope, taskId, queue, holder, fence: row.fence, cause };
      });
    },

    async renew(leases, ttlMs) {
      const leaseUntil = monotonic() + ttlMs;
      return leases.filter(({ scope, taskId, fence, holder }) => {
        const log = logs.get(scope, taskId);
        if (log?.row.fence !== fence || log.row.holder !== holder) return false;
        replace(log, log.row, { ...log.row, leaseUntil });
        return true;
      });
    },

    async lease(scope, taskId) {
      const log = logs.get(scope, taskId);
      return log && leaseReading(log.row);
    },

    async waiting(queue) {
      return ready.waiting(queue);
    },

    async prune({ closedBefore, limit }) {
      const old: Log[] = [];
      for (const log of index.closedBefore(closedBefore)) {
        if (old.length === limit) break;
        if (!outbox.isUndelivered(log)) old.push(log);
      }
      old.forEach(remove);
      return old.length;
    },

    async take(bucket, rate) {
      return buckets.take(bucket, rate, monotonic());
    },

    async ping() {},

    async identity() {
      return identity;
    },

    async close() {
      subscribers.clear();
    },
  };
}
