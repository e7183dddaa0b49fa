import type { Commit, Scope, StoredFact, TaskPage, Unsubscribe } from '@batonjs/store';
import {
  type Change,
  type Found,
  type FoundTask,
  frozenJson,
  type KeptFacts,
  type KeptLog,
  type ListSearch,
  type Moment,
  type QueueRow,
  type Rows,
  type Step,
  Subscribers,
  steadyNow,
  type TaskRow,
  type TaskWrite,
  type Topic,
  type Wanted,
} from '@batonjs/store/adapter';
import { byName, deletionOf, type RowPage, remembered, type WantedTask } from '@batonjs/store/rules';
import { Buckets } from './buckets.ts';
import { ClosedLogs } from './logs/closed-logs.ts';
import { Log, Logs, parts } from './logs/log.ts';
import { SortedList } from './order/sorted-list.ts';
import { TurnQueues } from './queues/turn-queues.ts';
import { Webhooks } from './queues/webhooks.ts';
import { Records } from './records.ts';
import { TaskIndex } from './task-index.ts';

/** Facts and snapshots are kept as they are: copied once, frozen, and shared between readers. */
type Json = StoredFact['fact'] | NonNullable<Commit['snapshot']>;

/** The rows of all tasks, in maps and sorted lists. Every call answers at once. */
export class MemoryRows implements Rows<Json> {
  readonly system = 'memory';
  readonly isPrivate = true;
  readonly #now: () => number;
  readonly #orderNow: () => number;
  readonly #monotonic: () => number;
  readonly #logs = new Logs();
  readonly #index = new TaskIndex();
  readonly #turns = new TurnQueues();
  readonly #webhooks = new Webhooks(this.#logs);
  readonly #queues = new Map<string, QueueRow>();
  readonly #buckets = new Buckets();
  readonly #records = new Records();
  readonly #subscribers = new Subscribers();
  readonly #closed: ClosedLogs;
  readonly #ended = new EndedRows();
  readonly #identity = crypto.randomUUID();

  /** `now`: the wall clock and that of the order; default: those of the process. `closedBytes`: of ended tasks. */
  constructor(now: (() => number) | undefined, monotonic: () => number, closedBytes: number) {
    this.#now = now ?? (() => Date.now());
    this.#orderNow = now ?? steadyNow;
    this.#monotonic = monotonic;
    this.#closed = new ClosedLogs(closedBytes);
  }

  encode<Value>(value: Value): Value {
    return frozenJson(value);
  }

  read(wanted: Wanted): Found {
    const { tasks, webhooks = false, records } = wanted;
    const found = {
      now: this.#now(),
      orderNow: this.#orderNow(),
      leaseNow: this.#monotonic(),
      tasks: tasks?.map((name) => this.#task(name, webhooks)),
      waiting: wanted.waiting && this.#turns.waiting(wanted.waiting.queue),
    };
    if (records) return { ...found, records: records.map((name) => this.#records.get(name)) };
    // Commits want nothing else.
    return tasks ? found : { ...found, ...this.#search(wanted, found) };
  }

  change<T>(step: Step<T, Json>): T {
    let { wanted } = step;
    let decision = step.decide(this.read(wanted));
    while ('decide' in decision) {
      ({ wanted } = decision);
      decision = decision.decide(this.read(wanted));
    }
    this.#write(decision, wanted);
    this.#subscribers.notifyOf(decision.notify);
    return decision.result;
  }

  log(scope: Scope, taskId: string): KeptLog | undefined {
    const log = this.#logs.get({ scope, taskId });
    if (!log) return undefined;
    const { row, snapshot, facts } = log;
    return { row, snapshot, facts: facts.after(snapshot?.version ?? 0) };
  }

  facts(scope: Scope, taskId: string, after: number, limit: number): KeptFacts {
    const log = this.#logs.get({ scope, taskId });
    return { version: log?.facts.length ?? 0, facts: log?.facts.after(after, limit) ?? [] };
  }

  page(scope: Scope, search: ListSearch): TaskPage {
    return this.#index.page(scope, search);
  }

  /** Whole parts of the map of logs: they are few, so that a page may be longer. */
  every(from = '0', limit: number): RowPage {
    const rows: TaskRow[] = [];
    let part = Number(from);
    while (part < parts && rows.length < limit) rows.push(...this.#logs.in(part++).map(({ row }) => row));
    return { rows, next: part < parts ? String(part) : undefined };
  }

  subscribe(topic: Topic, notify: (version?: number) => void): Unsubscribe {
    return this.#subscribers.add(topic, notify);
  }

  identity(): string {
    return this.#identity;
  }

  ping(): void {}

  close(): void {}

  #task(name: WantedTask, withWebhooks: boolean): FoundTask {
    const log = this.#logs.get(name);
    return {
      row: log?.row,
      webhooks: withWebhooks && log ? log.webhookRows : none,
      once: name.once === undefined ? undefined : log?.usedAt(name.once),
    };
  }

  #search(wanted: Wanted, { now, orderNow, leaseNow }: Moment): Partial<Found> {
    const { held, ready, schedule, turns, deliveries, dead, ended, listed, expired, bucket, counts } = wanted;
    const queues = this.#turns;
    return {
      held:
        held &&
        queues
          .held(held.holder)
          .filter(({ queue }) => queue === held.queue)
          .slice(0, held.limit),
      ready: ready && queues.ready(ready, now, leaseNow),
      schedule: schedule && {
        row: this.#queues.get(schedule.queue),
        running: queues.running(schedule.queue),
        callers: queues.order.callers(schedule.queue),
      },
      turns: turns?.callers.map(({ scope, except }) =>
        queues.order.ready(turns.queue, scope, except, { now, orderNow }, turns.limit),
      ),
      deliveries: deliveries && this.#webhooks.ready(deliveries, now),
      dead: dead && this.#webhooks.dead(dead.queue).sort(byName).slice(0, dead.limit),
      ended: ended && this.#ended.first(ended),
      listed: listed && this.#records.listed(listed),
      expired: expired && this.#records.expired(now, expired.limit),
      ...(counts && { counts: { ...queues.counts(counts.queue), ...this.#webhooks.counts(counts.queue) } }),
      fullAt: bucket === undefined ? undefined : this.#buckets.get(bucket),
    };
  }

  /** Nothing fails from here on. */
  #write(change: Change<unknown, Json>, { bucket }: Wanted): void {
    const { tasks, webhooks, records, queue, callers, fullAt } = change;
    if (tasks) for (const write of tasks) this.#writeTask(write);
    if (webhooks) for (const webhook of webhooks) this.#webhooks.replace(webhook);
    if (records) for (const record of records) this.#records.replace(record);
    if (queue?.after) this.#queues.set(queue.after.queue, queue.after);
    if (callers) for (const caller of callers) this.#turns.order.serve(caller);
    if (bucket !== undefined && fullAt !== undefined) this.#buckets.set(bucket, fullAt, this.#monotonic());
    if (this.#closed.isFull) for (const log of this.#closed.surplus(isUndelivered)) this.#evict(log);
  }

  #writeTask({ before, after, facts, commitId = '', snapshot, once }: TaskWrite<Json>): void {
    const known = before && this.#logs.get(before);
    if (!after) {
      if (known) this.#remove(known);
      return;
    }
    const log = known ?? new Log(after);
    if (!known) this.#logs.add(log);
    if (once !== undefined) log.use(once, log.facts.length + 1);
    if (facts) for (const fact of facts as readonly StoredFact['fact'][]) log.facts.push(commitId, fact);
    if (snapshot) log.snapshot = snapshot.json as NonNullable<Commit['snapshot']>;
    this.#turns.replace(log, before, after);
    log.row = after;
    if (after.endedAt !== undefined || before?.endedAt !== undefined) this.#ended.replace(before, after);
    this.#index.changed(log, before);
    if (!after.head?.closed || log.isClosed) return;
    log.close();
    this.#closed.add(log);
  }

  /** Deletes a log, and remembers that it was there. */
  #evict(log: Log): void {
    this.#remove(log);
    const before = this.#records.get(deletionOf(log.row));
    this.#records.replace(remembered(log.row, before, { now: this.#now() }));
  }

  #remove(log: Log): void {
    this.#webhooks.deleted(log);
    this.#ended.replace(log.row, undefined);
    this.#index.deleted(log);
    this.#logs.delete(log);
    this.#closed.delete(log);
  }
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

/** The rows of logs that may be deleted, by `endedAt`. */
class EndedRows {
  readonly #rows = new SortedList<TaskRow>(endedFirst);

  /** Called for every row that replaces another; undefined stands for a log that is new or gone. */
  replace(before: TaskRow | undefined, after: TaskRow | undefined): void {
    if (before?.endedAt !== undefined) this.#rows.remove(before);
    if (after?.endedAt !== undefined) this.#rows.add(after);
  }

  /** The first ones before a time. */
  first({ before, limit }: NonNullable<Wanted['ended']>): NonNullable<Found['ended']> {
    return this.#rows.first(limit, (row) => atOf(row) < before);
  }
}
