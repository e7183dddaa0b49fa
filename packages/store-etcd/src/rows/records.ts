import type { TaskName } from '@batonjs/store';
import type { Moment, RecordRow, Wanted } from '@batonjs/store/adapter';
import type { WantedTask } from '@batonjs/store/rules';
import { digestOf, insideUntil } from '../layout/keys.ts';
import { absent, type Database, type KnownTask } from '../layout/known-task.ts';
import type { KeyValue } from '../wire/messages.ts';

/** How many records one transaction deletes, about: each takes up to three writes. */
const mostExpired = 25;

/** The record in a key, for a decision to change it. */
export function recordIn(kept: KeyValue | undefined, key: string, look: Look): RecordRow | undefined {
  look.compare(key, kept?.modRevision);
  return kept && JSON.parse(String(kept.value)).row;
}

/** Records in the order of their names. */
export async function listedRecords(
  db: Database,
  { scope, from, until, limit }: NonNullable<Wanted['listed']>,
  look: Look,
): Promise<RecordRow[]> {
  const folder = scope === undefined ? db.keys.records : db.keys.recordsOf(scope);
  const range = { key: `${folder}${from}`, rangeEnd: `${folder}${until}` };
  const [{ kvs }] = await db.cluster.read([{ ...range, limit, keysOnly: true }]);
  const names = kvs.map(({ key }) => String(key).slice(folder.length));
  return named(db, names, look);
}

/** Records whose time is over. */
export async function expiredRecords(
  db: Database,
  { limit }: NonNullable<Wanted['expired']>,
  { now }: Moment,
  look: Look,
): Promise<RecordRow[]> {
  const range = insideUntil(db.keys.recordEnds, now);
  const some = { limit: Math.min(limit, mostExpired), keysOnly: true };
  const [{ kvs }] = await db.cluster.read([{ ...range, ...some }]);
  // After the time in a key, and a slash.
  const start = range.rangeEnd.length + 1;
  const names = kvs.map(({ key }) => String(key).slice(start));
  return named(db, names, look);
}

/** Records by their names; those that are gone meanwhile are missed. */
async function named(db: Database, names: readonly string[], look: Look): Promise<RecordRow[]> {
  const keys = names.map((name) => db.keys.record(name));
  const read = await db.cluster.getEach(keys, (key) => ({ key }));
  const rows = read.flatMap(([key, kept]) => recordIn(kept, key, look) ?? []);
  if (rows.length < names.length) look.hasMissed = true;
  return rows;
}

/** A task that is wanted by its name, and the digest of that. */
export interface NamedTask extends WantedTask {
  readonly task: string;
}

export const taskIn = ({ scope, taskId }: TaskName): string => digestOf(scope, taskId);

export const namedIn = ({ tasks = [] }: Wanted): NamedTask[] =>
  tasks.map((one) => ({ ...one, task: taskIn(one) }));

/** Everything that one decision was given. */
export class Look {
  readonly #tasks = new Map<string, KnownTask>();
  /** The revisions of keys that must still be so besides the tasks. */
  readonly compares = new Map<string, number>();
  /** The last turns that callers got, by their digests. */
  readonly served = new Map<string, number>();
  /** A search found keys of rows that were not there any more. */
  hasMissed = false;
  /** A schedule's claim must not take so many tasks that one transaction cannot hold them: none in their turn. */
  readonly isNarrow: boolean;

  constructor(isNarrow = false) {
    this.isNarrow = isNarrow;
  }

  /** What was seen of a task. */
  get(task: string): KnownTask {
    return this.#tasks.get(task) ?? absent;
  }

  /** The first look at a task counts: if it was another one later, the write fails. */
  add(task: string, known: KnownTask): void {
    const first = this.#tasks.get(task);
    if (!first) this.#tasks.set(task, known);
    else if (!first.webhooks) this.#tasks.set(task, { ...first, webhooks: known.webhooks });
  }

  compare(key: string, revision = 0): void {
    if (!this.compares.has(key)) this.compares.set(key, revision);
  }
}
