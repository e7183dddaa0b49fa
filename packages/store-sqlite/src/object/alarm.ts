import { StoreError } from '@batonjs/store';
import type { Database } from '../sql/database.ts';
import { type ObjectStorage, storeError } from './object-storage.ts';

export interface AlarmOptions {
  readonly storage: ObjectStorage;
  readonly nextWork: (now: number) => Work;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** How soon the object is woken after it died with a turn that ran or waited, in milliseconds. */
  readonly recoverAfterMs: number;
}

/** The longest time between two alarms while tasks wait that no agent of the object takes, in milliseconds. */
const longestMs = 3_600_000;

/** An alarm for a later time goes off after so many milliseconds, and sets the next. Cloudflare refuses any after 2189. */
const farthestMs = 366 * 24 * 3_600_000;

/** An object stays in memory at least as long after an event, in milliseconds. Cloudflare evicts idle ones after 70 to 140 s. */
const awakeMs = 30_000;

/**
 * Keeps an alarm set while there is work, so that an object that was evicted or killed starts again without a request.
 * While a turn runs, the alarms also keep the object from being evicted: that happens only to objects without events.
 */
export class Alarm {
  readonly #options: AlarmOptions;
  /** When the alarm goes off that this start of the object set. An alarm of an earlier start goes off as well. */
  #at = Number.NEGATIVE_INFINITY;
  #isPlanned = false;
  #error: StoreError | undefined;

  constructor(options: AlarmOptions) {
    this.#options = options;
  }

  /** Throws the error that makes the store unusable, if there is one. */
  mustBeUsable(): void {
    if (this.#error) throw this.#error;
  }

  /** The object's data was deleted. `mustBeUsable` throws this error from now on. */
  end(error: StoreError): void {
    this.#error = error;
  }

  /**
   * Sets the alarm if it is needed earlier than it is set. Called in the same round of the event loop as the write, so
   * that both are stored or none. Rejects with code `UNAVAILABLE`.
   */
  plan(): Promise<void> | undefined {
    const { now: clock, recoverAfterMs } = this.#options;
    const now = clock();
    const isSet = this.#at > now;
    this.#isPlanned = true;
    // Near enough: this object is awake and does its work by itself. The alarm is for its next start.
    if (isSet && this.#at <= now + Math.min(recoverAfterMs, awakeMs)) return undefined;
    const at = this.#neededAt(now);
    if (at === undefined || (isSet && this.#at <= at)) return undefined;
    this.#at = at;
    return this.#set(at);
  }

  /**
   * Sets the alarm if none is stored although there is work. Does so once: Cloudflare gives up an alarm when the class
   * failed six times, and then a start without a write would set no other.
   */
  restore(): Promise<void> | undefined {
    if (this.#isPlanned) return undefined;
    this.#isPlanned = true;
    return this.#restore();
  }

  /** Sets the next alarm, after one went off. */
  async setNext(): Promise<void> {
    this.#at = Number.NEGATIVE_INFINITY;
    await this.plan();
  }

  async #restore(): Promise<void> {
    try {
      // The alarm that started the object may not be postponed.
      if ((await this.#options.storage.getAlarm()) === null) await this.plan();
    } catch (error) {
      this.#isPlanned = false;
      throw storeError(error);
    }
  }

  /** Undefined if there is nothing to do before the next request. */
  #neededAt(now: number): number | undefined {
    const at = this.#workAt(now);
    return at === undefined ? undefined : Math.min(at, now + farthestMs);
  }

  #workAt(now: number): number | undefined {
    const { nextWork, recoverAfterMs } = this.#options;
    const { isRunning, readySince, dueAt } = nextWork(now);
    const since = isRunning ? now : readySince;
    if (since === undefined) return dueAt;
    // Twice as late each time: for a task that has been ready for long, the object probably has no agent any more.
    const again = now + Math.max(recoverAfterMs, Math.min(now - since, longestMs));
    return dueAt === undefined ? again : Math.min(again, dueAt);
  }

  async #set(at: number): Promise<void> {
    try {
      await this.#options.storage.setAlarm(at);
    } catch (error) {
      this.#at = Number.NEGATIVE_INFINITY;
      if (!/alarm\(\) handler/.test(String(error))) throw storeError(error);
      const message =
        'This Durable Object cannot be woken. Its class needs a method `alarm() { return store.alarm(); }`';
      this.#error = new StoreError('UNUSABLE', message, { cause: error });
      // The write that needed the alarm may have happened.
      throw new StoreError('UNAVAILABLE', message, { cause: error });
    }
  }
}

/** What the store has to do next, so that a host knows when to start its process. Times are milliseconds since 1970. */
export interface Work {
  /** Whether a turn or a delivery has a lease that has not run out. */
  readonly isRunning: boolean;
  /** When the newest ready task or webhook became ready. Absent if none is ready. */
  readonly readySince?: number;
  /** When the next task or webhook is due; absent if none will be. */
  readonly dueAt?: number;
}

type Table = 'tasks' | 'webhooks';

/**
 * A statement for the smallest or largest `column` over all queues. It jumps from queue to queue on an index: it reads
 * one entry per queue, not one per task.
 */
function overQueues(table: Table, column: string, pick: 'min' | 'max', condition = ''): string {
  const next = (from: string) =>
    `SELECT queue FROM ${table} WHERE ${column} IS NOT NULL AND queue ${from} ORDER BY queue LIMIT 1`;
  return `
  WITH RECURSIVE queues (queue) AS (
    SELECT (${next(">= ''")})
    UNION ALL
    SELECT (${next('> queues.queue')}) FROM queues WHERE queues.queue IS NOT NULL
  )
  SELECT ${pick}((SELECT ${pick}(${column}) FROM ${table}
    WHERE ${column} IS NOT NULL AND ${table}.queue = queues.queue ${condition})) AS at
  FROM queues WHERE queue IS NOT NULL`;
}

/** Finds when work is next, for hosts that stop idle processes, such as Durable Objects. */
export function nextWorkOf(db: Database): (now: number) => Work {
  const forBothTables = (pick: 'min' | 'max', comparison: '<=' | '>') =>
    (
      [
        ['tasks', 'due_at'],
        ['webhooks', 'ready_at'],
      ] as const
    ).map(([table, column]) => db.prepare(overQueues(table, column, pick, `AND ${column} ${comparison} ?`)));
  const leased = db.prepare(overQueues('tasks', 'lease_until', 'max'));
  // Reads every task with a lease. Used only when no turn runs: these leases have run out, and are few.
  const left = db.prepare("SELECT max(leased_at) AS at FROM tasks WHERE holder >= ''");
  const delivering = db.prepare("SELECT 1 FROM webhooks WHERE holder >= '' AND lease_until > ? LIMIT 1");
  const waiting = db.prepare(overQueues('tasks', 'waiting_since', 'max'));
  const [ready, due] = [forBothTables('max', '<='), forBothTables('min', '>')];

  /** `now`: milliseconds since 1970. Leases must go by the same clock as deadlines. */
  return (now) => {
    const leasedUntil = leased.get()?.at;
    const hasTurn = typeof leasedUntil === 'number' && leasedUntil > now;
    const newest = [waiting.get(), ...ready.map((last) => last.get(now))];
    if (!hasTurn) newest.push(left.get());
    const since = newest.map((row) => row?.at).filter((at) => typeof at === 'number');
    const times = due.map((first) => first.get(now)?.at).filter((at) => typeof at === 'number');
    return {
      isRunning: hasTurn || delivering.get(now) !== undefined,
      ...(since.length > 0 && { readySince: Math.max(...since) }),
      ...(times.length > 0 && { dueAt: Math.min(...times) }),
    };
  };
}
