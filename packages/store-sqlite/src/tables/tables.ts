import {
  type Change,
  type Found,
  type FoundTask,
  type Moment,
  type Step,
  Subscribers,
  steadyNow,
  type TaskRow,
  type TaskWrite,
  type Wanted,
} from '@batonjs/store/adapter';
import type { QueueCounts, WantedTask } from '@batonjs/store/rules';
import { Changes } from '../notifications/changes.ts';
import { type Database, type KeptTask, readColumns, toTask } from '../sql/database.ts';
import type { KnownTasks } from '../sql/known-tasks.ts';
import { LongTexts, snapshotPieces } from '../sql/long-texts.ts';
import { Counts } from './counts.ts';
import { Records } from './records.ts';
import { Texts } from './task-list.ts';
import { Contexts, TaskTable, Terms } from './task-table.ts';
import { TurnQueues } from './turn-queues.ts';
import { WebhookTable } from './webhook-table.ts';

export interface TablesOptions {
  /** The wall clock and that of the order, in milliseconds since 1970. Default: those of the process. */
  readonly now?: (() => number) | undefined;
  /** The clock of leases, in milliseconds; an integer. */
  readonly leaseNow: () => number;
  /** Rows that need not be read before they are written. Default: none. */
  readonly known?: KnownTasks;
  /** How many characters a value may have, of up to 3 bytes each. Default: any number. */
  readonly longestText?: number;
}

/** All tables of a database that has the schema. `counts` and `changes` are hooks of every transaction that writes. */
export class Tables {
  readonly db: Database;
  readonly subscribers = new Subscribers();
  readonly changes = new Changes(this.subscribers);
  readonly counts: Counts;
  readonly contexts: Contexts;
  readonly terms: Terms;
  readonly longTexts: LongTexts;
  readonly texts: Texts;
  readonly known: KnownTasks | undefined;
  readonly tasks: TaskTable;
  readonly #moment: () => Moment;
  readonly #logs: LogTable;
  readonly #webhooks: WebhookTable;
  readonly #turns: TurnQueues;
  readonly #buckets: Buckets;
  readonly #records: Records;
  readonly #ended;

  constructor(db: Database, { now, leaseNow, known, longestText }: TablesOptions) {
    this.db = db;
    const [wall, order] = [now ?? (() => Date.now()), now ?? steadyNow];
    this.#moment = () => ({ now: wall(), orderNow: order(), leaseNow: leaseNow() });
    this.counts = new Counts(db);
    this.contexts = new Contexts(db);
    this.terms = new Terms(db);
    this.longTexts = new LongTexts(db, longestText);
    this.texts = new Texts(db);
    this.known = known;
    this.tasks = new TaskTable(db, this);
    this.#logs = new LogTable(db, this.longTexts);
    this.#webhooks = new WebhookTable(db, this.tasks);
    this.#turns = new TurnQueues(db);
    this.#buckets = new Buckets(db);
    this.#records = new Records(db);
    this.#ended = db.prepare(`SELECT ${readColumns} FROM tasks WHERE ended_at < ? ORDER BY ended_at LIMIT ?`);
  }

  /** Finds the rows that are wanted. Called inside the caller's transaction. */
  find(wanted: Wanted): Found {
    const moment = this.#moment();
    const { tasks, records, waiting } = wanted;
    if (!tasks && !records) return this.#search(wanted, moment);
    return {
      ...moment,
      tasks: tasks?.map((name) => this.#task(name, wanted.webhooks === true)),
      records: records?.map((name) => this.#records.get(name)),
      waiting: waiting && this.counts.waiting(waiting.queue),
    };
  }

  /** The change that a step decides on. Nothing is written yet. */
  decide<T>({ wanted, decide }: Step<T>): Change<T> {
    let decision = decide(this.find(wanted));
    while ('decide' in decision) decision = decision.decide(this.find(decision.wanted));
    return decision;
  }

  /** Decides and writes. Throws refusals before it changes anything. Called inside the caller's transaction. */
  change<T>(step: Step<T>): T {
    const change = this.decide(step);
    const { tasks, webhooks, records, queue, callers = [], fullAt } = change;
    const { bucket } = step.wanted;
    if (tasks) for (const write of tasks) this.#writeTask(write);
    if (webhooks) for (const webhook of webhooks) this.#webhooks.replace(webhook);
    if (records) for (const record of records) this.#records.replace(record);
    if (queue?.after) this.#turns.remember(queue.after, callers);
    if (bucket !== undefined && fullAt !== undefined)
      this.#buckets.set(bucket, fullAt, this.#moment().leaseNow);
    this.changes.touch(change.notify);
    return change.result;
  }

  #writeTask(write: TaskWrite): void {
    const before = write.before as KeptTask | undefined;
    const { after, text } = write;
    if (after) {
      const task = this.tasks.put(before, after);
      this.#logs.write(task, write);
      if (text !== undefined) this.texts.keep(task, after.scope, text);
    } else if (before) this.tasks.delete(before);
  }

  #task(name: WantedTask, withWebhooks: boolean): FoundTask {
    const row = this.tasks.find(name);
    return {
      row,
      webhooks: row && withWebhooks && row.webhooks > 0 ? this.#webhooks.of(row.id) : none,
      once: row && name.once !== undefined ? this.#logs.usedAt(row.id, name.once) : undefined,
    };
  }

  #search(wanted: Wanted, moment: Moment): Found {
    const { now, leaseNow } = moment;
    const { held, ready, schedule, turns, deliveries, dead, ended, waiting, bucket, counts } = wanted;
    const { listed, expired } = wanted;
    const queues = this.#turns;
    return {
      ...moment,
      held: held && queues.held(held),
      ready: ready && queues.ready(ready, now, leaseNow),
      schedule: schedule && queues.schedule(schedule),
      turns: turns && queues.turns(turns, moment),
      deliveries: deliveries && this.#webhooks.ready(deliveries, now),
      dead: dead && this.#webhooks.dead(dead.queue, dead.limit),
      ended: ended && this.#endedBefore(ended),
      listed: listed && this.#records.listed(listed),
      expired: expired && this.#records.expired(now, expired.limit),
      waiting: waiting && this.counts.waiting(waiting.queue),
      ...(counts && { counts: this.#counts(counts.queue) }),
      fullAt: bucket === undefined ? undefined : this.#buckets.get(bucket),
    };
  }

  #counts(queue: string): QueueCounts {
    return {
      tasks: this.counts.of(queue),
      askedAt: this.#turns.askedAt(queue),
      ...this.#webhooks.counts(queue),
    };
  }

  #endedBefore({ before, limit }: NonNullable<Wanted['ended']>): TaskRow[] {
    return this.#ended.all(before, limit).map(toTask);
  }
}

const none: readonly never[] = [];

/** Writes facts, snapshots and `once` keys. Called inside the caller's transaction. */
class LogTable {
  readonly #texts: LongTexts;
  readonly #sql;

  constructor(db: Database, texts: LongTexts) {
    this.#texts = texts;
    this.#sql = {
      findOnce: db.prepare('SELECT version FROM once_keys WHERE task = ? AND key = ?'),
      insertOnce: db.prepare('INSERT INTO once_keys (task, key, version) VALUES (?, ?, ?)'),
      insertFact: db.prepare('INSERT INTO facts (task, version, commit_id, fact) VALUES (?, ?, ?, ?)'),
      putSnapshot: db.prepare('REPLACE INTO snapshots (task, version, snapshot) VALUES (?, ?, ?)'),
    };
  }

  /** The position that is kept under a `once` key of a task. */
  usedAt(task: number, once: string): number | undefined {
    const found = this.#sql.findOnce.get(task, once);
    return found && Number(found.version);
  }

  write(task: number, { before, facts, commitId = '', snapshot, once }: TaskWrite): void {
    let version = before?.version ?? 0;
    if (once !== undefined) this.#sql.insertOnce.run(task, once, version + 1);
    for (const fact of facts ?? []) {
      version++;
      this.#sql.insertFact.run(task, version, commitId, this.#texts.keep(task, version, fact));
    }
    if (!snapshot) return;
    this.#texts.forget(task, snapshotPieces);
    this.#sql.putSnapshot.run(task, snapshot.version, this.#texts.keep(task, snapshotPieces, snapshot.json));
  }
}

/** How many writes of this process there are between two sweeps. */
const sweepEvery = 100;

/** How many buckets a sweep visits: more than writes can have added since the last one, so that it comes to all. */
const sweepAtMost = 200;

/** The buckets that all processes on a file share. Called inside the caller's transaction. */
export class Buckets {
  readonly #sql;
  #writes = 0;
  /** The name of the bucket at which the last sweep ended. */
  #sweptUntil = '';

  constructor(db: Database) {
    this.#sql = {
      find: db.prepare('SELECT full_at FROM buckets WHERE name = ?'),
      put: db.prepare(
        'INSERT INTO buckets (name, full_at) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET full_at = excluded.full_at',
      ),
      findEnd: db.prepare('SELECT name FROM buckets WHERE name > ? ORDER BY name LIMIT 1 OFFSET ?'),
      deleteFull: db.prepare('DELETE FROM buckets WHERE name > ? AND name <= ? AND full_at <= ?'),
      deleteRest: db.prepare('DELETE FROM buckets WHERE name > ? AND full_at <= ?'),
    };
  }

  get(bucket: string): number | undefined {
    const kept = this.#sql.find.get(bucket);
    return kept && Number(kept.full_at);
  }

  /** `now`: of the clock that `fullAt` is of. */
  set(bucket: string, fullAt: number, now: number): void {
    this.#sql.put.run(bucket, fullAt);
    if (++this.#writes % sweepEvery === 0) this.#sweep(now);
  }

  /** Deletes the full ones of the next buckets by name: an index by time would cost every write a write more. */
  #sweep(now: number): void {
    const from = this.#sweptUntil;
    const last = this.#sql.findEnd.get(from, sweepAtMost - 1);
    const end = last ? String(last.name) : '';
    if (last) this.#sql.deleteFull.run(from, end, now);
    else this.#sql.deleteRest.run(from, now);
    this.#sweptUntil = end;
  }
}
