import {
  type Change,
  type Found,
  type FoundTask,
  type Moment,
  type Step,
  Subscribers,
  steadyNow,
  type TaskWrite,
  type Wanted,
} from '@batonjs/store/adapter';
import type { WantedTask } from '@batonjs/store/rules';
import { Changes } from '../notifications/changes.ts';
import { type Database, type KeptTask, readColumns, toTask } from '../sql/database.ts';
import type { KnownTasks } from '../sql/known-tasks.ts';
import { type LongTexts, longTextsOf, snapshotPieces } from '../sql/long-texts.ts';
import { countsOf } from './counts.ts';
import { recordsOf } from './records.ts';
import { textsOf } from './task-list.ts';
import { contextsOf, taskTable, termTable } from './task-table.ts';
import { turnQueuesOf } from './turn-queues.ts';
import { webhookTable } from './webhook-table.ts';

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

export type Tables = ReturnType<typeof tablesOf>;

/** All tables of a database that has the schema. `counts` and `changes` are hooks of every transaction that writes. */
export function tablesOf(db: Database, { now, leaseNow, known, longestText }: TablesOptions) {
  const [wall, order] = [now ?? (() => Date.now()), now ?? steadyNow];
  const present = (): Moment => ({ now: wall(), orderNow: order(), leaseNow: leaseNow() });
  const subscribers = new Subscribers();
  const changes = new Changes(subscribers);
  const counts = countsOf(db);
  const contexts = contextsOf(db);
  const terms = termTable(db);
  const longTexts = longTextsOf(db, longestText);
  const texts = textsOf(db);
  const tasks = taskTable(db, { counts, contexts, terms, known });
  const logs = logTable(db, longTexts);
  const hooks = webhookTable(db, tasks);
  const turnQueues = turnQueuesOf(db);
  const buckets = bucketsOf(db);
  const records = recordsOf(db);
  const ended = db.prepare(`SELECT ${readColumns} FROM tasks WHERE ended_at < ? ORDER BY ended_at LIMIT ?`);

  /** Finds the rows that are wanted. Called inside the caller's transaction. */
  function find(wanted: Wanted): Found {
    const moment = present();
    const { waiting } = wanted;
    if (!wanted.tasks && !wanted.records) return search(wanted, moment);
    return {
      ...moment,
      tasks: wanted.tasks?.map((name) => taskIn(name, wanted.webhooks === true)),
      records: wanted.records?.map((name) => records.get(name)),
      waiting: waiting && counts.waiting(waiting.queue),
    };
  }

  /** The change that a step decides on. Nothing is written yet. */
  function decide<T>(step: Step<T>): Change<T> {
    let decision = step.decide(find(step.wanted));
    while ('decide' in decision) decision = decision.decide(find(decision.wanted));
    return decision;
  }

  /** Decides and writes. Throws refusals before it changes anything. Called inside the caller's transaction. */
  function change<T>(step: Step<T>): T {
    const change = decide(step);
    const { queue, callers = [], fullAt } = change;
    const { bucket } = step.wanted;
    if (change.tasks) for (const write of change.tasks) writeTask(write);
    if (change.webhooks) for (const webhook of change.webhooks) hooks.replace(webhook);
    if (change.records) for (const record of change.records) records.replace(record);
    if (queue?.after) turnQueues.remember(queue.after, callers);
    if (bucket !== undefined && fullAt !== undefined) buckets.set(bucket, fullAt, present().leaseNow);
    changes.touch(change.notify);
    return change.result;
  }

  function writeTask(write: TaskWrite): void {
    const before = write.before as KeptTask | undefined;
    const { after, text } = write;
    if (after) {
      const task = tasks.put(before, after);
      logs.write(task, write);
      if (text !== undefined) texts.keep(task, after.scope, text);
    } else if (before) tasks.delete(before);
  }

  function taskIn(name: WantedTask, withWebhooks: boolean): FoundTask {
    const row = tasks.find(name);
    return {
      row,
      webhooks: row && withWebhooks && row.webhooks > 0 ? hooks.of(row.id) : none,
      once: row && name.once !== undefined ? logs.usedAt(row.id, name.once) : undefined,
    };
  }

  function search(wanted: Wanted, moment: Moment): Found {
    const { now, leaseNow } = moment;
    const { held, ready, schedule, turns, deliveries, dead, waiting, bucket, listed, expired } = wanted;
    const { queue } = wanted.counts ?? {};
    return {
      ...moment,
      held: held && turnQueues.held(held),
      ready: ready && turnQueues.ready(ready, now, leaseNow),
      schedule: schedule && turnQueues.schedule(schedule),
      turns: turns && turnQueues.turns(turns, moment),
      deliveries: deliveries && hooks.ready(deliveries, now),
      dead: dead && hooks.dead(dead.queue, dead.limit),
      ended: wanted.ended && ended.all(wanted.ended.before, wanted.ended.limit).map(toTask),
      listed: listed && records.listed(listed),
      expired: expired && records.expired(now, expired.limit),
      waiting: waiting && counts.waiting(waiting.queue),
      ...(queue !== undefined && {
        counts: { tasks: counts.of(queue), askedAt: turnQueues.askedAt(queue), ...hooks.counts(queue) },
      }),
      fullAt: bucket === undefined ? undefined : buckets.get(bucket),
    };
  }

  const parts = { db, subscribers, changes, counts, contexts, terms, longTexts, texts, tasks };
  return { ...parts, find, decide, change };
}

const none: readonly never[] = [];

/** Writes facts, snapshots and `once` keys. Called inside the caller's transaction. */
function logTable(db: Database, texts: LongTexts) {
  const sql = {
    findOnce: db.prepare('SELECT version FROM once_keys WHERE task = ? AND key = ?'),
    insertOnce: db.prepare('INSERT INTO once_keys (task, key, version) VALUES (?, ?, ?)'),
    insertFact: db.prepare('INSERT INTO facts (task, version, commit_id, fact) VALUES (?, ?, ?, ?)'),
    putSnapshot: db.prepare('REPLACE INTO snapshots (task, version, snapshot) VALUES (?, ?, ?)'),
  };

  return {
    /** The position that is kept under a `once` key of a task. */
    usedAt(task: number, once: string): number | undefined {
      const found = sql.findOnce.get(task, once);
      return found && Number(found.version);
    },
    write(task: number, { before, facts, commitId = '', snapshot, once }: TaskWrite): void {
      let version = before?.version ?? 0;
      if (once !== undefined) sql.insertOnce.run(task, once, version + 1);
      for (const fact of facts ?? []) {
        version++;
        sql.insertFact.run(task, version, commitId, texts.keep(task, version, fact));
      }
      if (!snapshot) return;
      texts.forget(task, snapshotPieces);
      sql.putSnapshot.run(task, snapshot.version, texts.keep(task, snapshotPieces, snapshot.json));
    },
  };
}

/** How many writes of this process there are between two sweeps. */
const sweepEvery = 100;

/** How many buckets a sweep visits: more than writes can have added since the last one, so that it comes to all. */
const sweepAtMost = 200;

/** The buckets that all processes on a file share. Called inside the caller's transaction. */
export function bucketsOf(db: Database) {
  let writes = 0;
  /** The name of the bucket at which the last sweep ended. */
  let sweptUntil = '';
  const sql = {
    find: db.prepare('SELECT full_at FROM buckets WHERE name = ?'),
    put: db.prepare(
      'INSERT INTO buckets (name, full_at) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET full_at = excluded.full_at',
    ),
    findEnd: db.prepare('SELECT name FROM buckets WHERE name > ? ORDER BY name LIMIT 1 OFFSET ?'),
    deleteFull: db.prepare('DELETE FROM buckets WHERE name > ? AND name <= ? AND full_at <= ?'),
    deleteRest: db.prepare('DELETE FROM buckets WHERE name > ? AND full_at <= ?'),
  };

  /** Deletes the full ones of the next buckets by name: an index by time would cost every write a write more. */
  function sweep(now: number): void {
    const from = sweptUntil;
    const last = sql.findEnd.get(from, sweepAtMost - 1);
    const end = last ? String(last.name) : '';
    if (last) sql.deleteFull.run(from, end, now);
    else sql.deleteRest.run(from, now);
    sweptUntil = end;
  }

  return {
    get(bucket: string): number | undefined {
      const kept = sql.find.get(bucket);
      return kept && Number(kept.full_at);
    },
    /** `now`: of the clock that `fullAt` is of. */
    set(bucket: string, fullAt: number, now: number): void {
      sql.put.run(bucket, fullAt);
      if (++writes % sweepEvery === 0) sweep(now);
    },
  };
}
