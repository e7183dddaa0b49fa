import type { Commit, StoredFact } from '@batonjs/store';
import {
  type Change,
  type Found,
  type FoundTask,
  frozenJson,
  type Moment,
  type QueueRow,
  type Rows,
  type Step,
  Subscribers,
  steadyNow,
  type TaskRow,
  type TaskWrite,
  type Wanted,
} from '@batonjs/store/adapter';
import { byName, deletionOf, remembered, type WantedTask } from '@batonjs/store/rules';
import { Buckets } from './buckets.ts';
import { closedLogs } from './logs/closed-logs.ts';
import { Log, Logs, parts } from './logs/log.ts';
import { SortedList } from './order/sorted-list.ts';
import { turnQueuesOf } from './queues/turn-queues.ts';
import { webhooksOf } from './queues/webhooks.ts';
import { recordsOf } from './records.ts';
import { TaskIndex } from './task-index.ts';

/** Facts and snapshots are kept as they are: copied once, frozen, and shared between readers. */
type Json = StoredFact['fact'] | NonNullable<Commit['snapshot']>;

/**
 * The rows of all tasks, in maps and sorted lists. Every call answers at once. `wallClock`: also that of the order; default:
 * those of the process. `closedBytes`: of ended tasks.
 */
export function memoryRows(
  wallClock: (() => number) | undefined,
  monotonic: () => number,
  closedBytes: number,
): Rows<Json> {
  const logs = new Logs();
  const index = new TaskIndex();
  const turnQueues = turnQueuesOf();
  const keptWebhooks = webhooksOf(logs);
  const queueCounts = new Map<string, QueueRow>();
  const buckets = new Buckets();
  const keptRecords = recordsOf();
  const subscribers = new Subscribers();
  /** The rows of logs that may be deleted. */
  const endedRows = new SortedList<TaskRow>(endedFirst);
  const ownIdentity = crypto.randomUUID();
  const now = wallClock ?? (() => Date.now());
  const orderNow = wallClock ?? steadyNow;
  const closed = closedLogs(closedBytes);

  function read(wanted: Wanted): Found {
    const { tasks, webhooks = false, records } = wanted;
    const found = {
      now: now(),
      orderNow: orderNow(),
      leaseNow: monotonic(),
      tasks: tasks?.map((name) => task(name, webhooks)),
      waiting: wanted.waiting && turnQueues.waiting(wanted.waiting.queue),
    };
    if (records) return { ...found, records: records.map((name) => keptRecords.get(name)) };
    // Commits want nothing else.
    return tasks ? found : { ...found, ...search(wanted, found) };
  }

  function task(name: WantedTask, withWebhooks: boolean): FoundTask {
    const log = logs.get(name);
    return {
      row: log?.row,
      webhooks: withWebhooks && log ? log.webhookRows : none,
      once: name.once === undefined ? undefined : log?.usedAt(name.once),
    };
  }

  function search(wanted: Wanted, { now, orderNow, leaseNow }: Moment): Partial<Found> {
    const { held, ready, schedule, turns, deliveries, dead, ended, listed, expired, bucket, counts } = wanted;
    return {
      held:
        held &&
        turnQueues
          .held(held.holder)
          .filter(({ queue }) => queue === held.queue)
          .slice(0, held.limit),
      ready: ready && turnQueues.ready(ready, now, leaseNow),
      schedule: schedule && {
        row: queueCounts.get(schedule.queue),
        running: turnQueues.running(schedule.queue),
        callers: turnQueues.order.callers(schedule.queue),
      },
      turns: turns?.callers.map(({ scope, except }) =>
        turnQueues.order.ready(turns.queue, scope, except, { now, orderNow }, turns.limit),
      ),
      deliveries: deliveries && keptWebhooks.ready(deliveries, now),
      dead: dead && keptWebhooks.dead(dead.queue).sort(byName).slice(0, dead.limit),
      ended: ended && endedRows.first(ended.limit, (row) => atOf(row) < ended.before),
      listed: listed && keptRecords.listed(listed),
      expired: expired && keptRecords.expired(now, expired.limit),
      ...(counts && { counts: { ...turnQueues.counts(counts.queue), ...keptWebhooks.counts(counts.queue) } }),
      fullAt: bucket === undefined ? undefined : buckets.get(bucket),
    };
  }

  /** Nothing fails from here on. */
  function write(change: Change<unknown, Json>, { bucket }: Wanted): void {
    const { tasks, webhooks, records, queue, callers, fullAt } = change;
    if (tasks) for (const write of tasks) writeTask(write);
    if (webhooks) for (const webhook of webhooks) keptWebhooks.replace(webhook);
    if (records) for (const record of records) keptRecords.replace(record);
    if (queue?.after) queueCounts.set(queue.after.queue, queue.after);
    if (callers) for (const caller of callers) turnQueues.order.serve(caller);
    if (bucket !== undefined && fullAt !== undefined) buckets.set(bucket, fullAt, monotonic());
    if (closed.isFull) for (const log of closed.surplus(isUndelivered)) evict(log);
  }

  function writeTask({ before, after, facts, commitId = '', snapshot, once }: TaskWrite<Json>): void {
    const known = before && logs.get(before);
    if (!after) {
      if (known) remove(known);
      return;
    }
    const log = known ?? new Log(after);
    if (!known) logs.add(log);
    if (once !== undefined) log.use(once, log.facts.length + 1);
    if (facts) for (const fact of facts as readonly StoredFact['fact'][]) log.facts.push(commitId, fact);
    if (snapshot) log.snapshot = snapshot.json as NonNullable<Commit['snapshot']>;
    turnQueues.replace(log, before, after);
    log.row = after;
    if (before?.endedAt !== undefined) endedRows.remove(before);
    if (after.endedAt !== undefined) endedRows.add(after);
    index.changed(log, before);
    if (!after.head?.closed || log.isClosed) return;
    log.close();
    closed.add(log);
  }

  /** Deletes a log, and remembers that it was there. */
  function evict(log: Log): void {
    remove(log);
    const before = keptRecords.get(deletionOf(log.row));
    keptRecords.replace(remembered(log.row, before, { now: now() }));
  }

  function remove(log: Log): void {
    keptWebhooks.deleted(log);
    if (log.row.endedAt !== undefined) endedRows.remove(log.row);
    index.deleted(log);
    logs.delete(log);
    closed.delete(log);
  }

  return {
    encode: <Value>(value: Value): Value => frozenJson(value),
    read,
    change<T>(step: Step<T, Json>): T {
      let { wanted } = step;
      let decision = step.decide(read(wanted));
      while ('decide' in decision) {
        ({ wanted } = decision);
        decision = decision.decide(read(wanted));
      }
      write(decision, wanted);
      subscribers.notifyOf(decision.notify);
      return decision.result;
    },
    log(scope, taskId) {
      const log = logs.get({ scope, taskId });
      if (!log) return undefined;
      const { row, snapshot, facts } = log;
      return { row, snapshot, facts: facts.after(snapshot?.version ?? 0) };
    },
    facts(scope, taskId, after, limit) {
      const log = logs.get({ scope, taskId });
      return { version: log?.facts.length ?? 0, facts: log?.facts.after(after, limit) ?? [] };
    },
    page: (scope, search) => index.page(scope, search),
    /** Whole parts of the map of logs: they are few, so that a page may be longer. */
    every(from = '0', limit) {
      const rows: TaskRow[] = [];
      let part = Number(from);
      while (part < parts && rows.length < limit) rows.push(...logs.in(part++).map(({ row }) => row));
      return { rows, next: part < parts ? String(part) : undefined };
    },
    subscribe: (topic, notify) => subscribers.add(topic, notify),
    identity: () => ownIdentity,
    ping() {},
    close() {},
    system: 'memory',
    isPrivate: true,
  };
}

const none: readonly never[] = [];

/** Of a closed log. */
const isUndelivered = ({ row }: Log): boolean => row.endedAt === undefined;

const atOf = ({ endedAt = 0 }: TaskRow): number => endedAt;

const endedFirst = (a: TaskRow, b: TaskRow): number => {
  if (a.endedAt !== b.endedAt) return atOf(a) - atOf(b);
  if (a.taskId !== b.taskId) return a.taskId < b.taskId ? -1 : 1;
  return a.scope === b.scope ? 0 : a.scope < b.scope ? -1 : 1;
};
