import type { Commit, TaskName } from '@batonjs/store';
import type { TaskRow, WebhookRow } from '@batonjs/store/adapter';
import type { Queued } from '../order/priority-queues.ts';
import { bytesOf, Facts } from './facts.ts';

type Snapshot = NonNullable<Commit['snapshot']>;

/** About how many bytes a closed log takes besides its text, with its row and its places in lists and maps: measured. */
const perLog = 1_050;

/** One webhook, and its place among those that can be delivered to. */
export class Webhook implements Queued {
  row: WebhookRow;
  queued: Queued['queued'];

  constructor(row: WebhookRow) {
    this.row = row;
  }
}

/** Shared by all logs without webhooks. */
const none: readonly never[] = Object.freeze([]);

/**
 * One task. Rows, facts and snapshots are replaced, never changed. The facts and the snapshot of a closed log are text: see
 * `Facts`. Its row stays an object, which takes less memory than its text.
 */
export class Log implements Queued {
  readonly scope: string;
  readonly taskId: string;
  readonly facts = new Facts();
  /** The time by which it is placed in lists: perhaps that of an earlier row. */
  statusAt = '';
  /** The row by which it is placed in lists, if it is and the log is open. */
  placed: TaskRow | undefined;
  /** Whether it waits to be placed in lists. */
  isMoved = false;
  queued: Queued['queued'];
  /** Its neighbours among closed logs. */
  older: Log | undefined;
  newer: Log | undefined;
  /** Webhooks, if it has any. */
  webhooks: readonly Webhook[] = none;
  /** How many bytes it takes, about. 0 until it is closed. */
  bytes = 0;
  /** Replaced by each write. */
  row: TaskRow;
  isClosed = false;
  #snapshot: Snapshot | string | undefined;
  /** The first `once` key that was used, with the position of the first fact of its commit: mostly the only one. */
  #once: string | undefined;
  #onceAt = 0;
  /** Those that were used later. */
  #more: Map<string, number> | string | undefined;

  constructor(row: TaskRow) {
    this.scope = row.scope;
    this.taskId = row.taskId;
    this.row = row;
  }

  /** The row by which it is placed in lists, if it is. */
  get placedBy(): TaskRow | undefined {
    return this.isClosed ? this.row : this.placed;
  }

  get webhookRows(): readonly WebhookRow[] {
    return this.webhooks.length === 0 ? none : this.webhooks.map(({ row }) => row);
  }

  get snapshot(): Snapshot | undefined {
    return read(this.#snapshot);
  }

  set snapshot(snapshot: Snapshot) {
    this.#snapshot = snapshot;
  }

  /** The position of the first fact of the commit that used this key, or undefined. */
  usedAt(once: string): number | undefined {
    if (this.#once === once) return this.#onceAt;
    return typeof this.#more === 'string'
      ? new Map(read<[string, number][]>(this.#more)).get(once)
      : this.#more?.get(once);
  }

  use(once: string, version: number): void {
    if (this.#once === undefined) {
      this.#once = once;
      this.#onceAt = version;
    } else if (typeof this.#more !== 'string') this.#more = (this.#more ?? new Map()).set(once, version);
  }

  /** Called once, after the commit that closes it: nothing is set any more. */
  close(): void {
    const { facts } = this;
    facts.close();
    this.bytes = perLog + facts.bytes + bytesOf(this.row.head?.contextId) + bytesOf(this.#once);
    if (this.#more) {
      this.#more = JSON.stringify([...this.#more]);
      this.bytes += bytesOf(this.#more);
    }
    if (this.#snapshot) {
      this.#snapshot = JSON.stringify(this.#snapshot);
      this.bytes += bytesOf(this.#snapshot);
    }
    this.isClosed = true;
    this.placed = undefined;
  }
}

const read = <T>(value: T | string): T => (typeof value === 'string' ? JSON.parse(value) : value);

/** Logs by scope and task id. */
export class Logs {
  /** Hardly ever do several scopes have a task of the same id. */
  readonly #byTaskId = new LargeMap<OneOrMore>();
  /** The one that was found last: a log that is read is mostly written next. */
  #latest: Log | undefined;
  /** An id that no log has: one that was not found is mostly added next. */
  #missing: string | undefined;

  get({ scope, taskId }: TaskName): Log | undefined {
    const latest = this.#latest;
    if (latest?.taskId === taskId && latest.scope === scope) return latest;
    const logs = this.#byTaskId.get(taskId);
    if (!logs) this.#missing = taskId;
    const log = logs instanceof Log ? logs : logs?.find((one) => one.scope === scope);
    if (log?.scope !== scope) return undefined;
    this.#latest = log;
    return log;
  }

  add(log: Log): void {
    const { taskId } = log;
    const others = this.#missing === taskId ? undefined : this.#byTaskId.get(taskId);
    this.#byTaskId.set(taskId, withLog(others, log));
    this.#missing = undefined;
    this.#latest = log;
  }

  /** Those in one of the parts of the map. */
  in(part: number): Log[] {
    return [...this.#byTaskId.valuesOf(part)].flatMap(logsOf);
  }

  delete(log: Log): void {
    if (this.#latest === log) this.#latest = undefined;
    const left = withoutLog(this.#byTaskId.get(log.taskId), log);
    if (left) this.#byTaskId.set(log.taskId, left);
    else this.#byTaskId.delete(log.taskId);
  }
}

/** The logs under one key: mostly one, for which an array would take as much memory as a map does. */
export type OneOrMore = Log | readonly Log[];

export const logsOf = (logs: OneOrMore = []): readonly Log[] => (logs instanceof Log ? [logs] : logs);

export const withLog = (logs: OneOrMore | undefined, log: Log): OneOrMore =>
  logs ? [...logsOf(logs), log] : log;

/** Undefined if none is left. */
export function withoutLog(logs: OneOrMore | undefined, log: Log): OneOrMore | undefined {
  const left = logsOf(logs).filter((one) => one !== log);
  return left.length > 1 ? left : left[0];
}

/** A power of two. */
export const parts = 256;

/**
 * A map with string keys, split over 256 maps. A single map copies all its entries when it outgrows its table: with 131,072
 * entries that blocks the process for 15 to 25 ms.
 */
export class LargeMap<Value> {
  readonly #parts: Map<string, Value>[] = Array.from({ length: parts }, () => new Map());

  get size(): number {
    return this.#parts.reduce((sum, { size }) => sum + size, 0);
  }

  get(key: string): Value | undefined {
    return this.#partOf(key).get(key);
  }

  set(key: string, value: Value): void {
    this.#partOf(key).set(key, value);
  }

  delete(key: string): void {
    this.#partOf(key).delete(key);
  }

  /** The values of one of the 256 maps. */
  valuesOf(part: number): Iterable<Value> {
    return this.#parts[part]?.values() ?? [];
  }

  /**
   * Ids that begin with the time go to one part for 16 ms, and to the next one then: the table that the entry before
   * went to is still in the caches of the processor. Other keys go by their last characters, which differ most.
   */
  #partOf(key: string): Map<string, Value> {
    const { length } = key;
    if (length === 36 && key.charCodeAt(14) === seven)
      return this.#parts[(digitOf(key.charCodeAt(10)) << 4) | digitOf(key.charCodeAt(11))]!;
    const mark =
      (key.charCodeAt(length - 3) * 31 + key.charCodeAt(length - 2)) * 31 + key.charCodeAt(length - 1);
    return this.#parts[mark & (parts - 1)]!;
  }
}

/** The version in a UUID that begins with the time. */
const seven = 0x37;

/** What a hexadecimal digit stands for, and a number from 0 to 15 for any other character. */
const digitOf = (code: number): number => ((code & 0x40 ? 9 : 0) + code) & 15;
