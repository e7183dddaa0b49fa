import { randomUUID } from 'node:crypto';
import { type Scope, type StoredFact, StoreError } from '@batonjs/store';
import type { KeptFacts, KeptLog } from '@batonjs/store/adapter';
import type { RowPage } from '@batonjs/store/rules';
import { digestOf, inside, type Keys, lastPart } from '../layout/keys.ts';
import { type Database, taskOf } from '../layout/known-task.ts';
import type { KeyValue, RangeRequest, RangeResponse, Write } from '../wire/messages.ts';

/** The most commits that are read at once. */
const atOnce = 200;

/** How many facts are read together with the row of their task: all of them, of most tasks. */
const withRow = 32;

/** The value of `fact/<task>/<position>`: the facts of one commit. */
interface Entry {
  readonly commitId: string;
  readonly first: number;
  readonly facts: readonly StoredFact['fact'][];
}

/** See `Rows.log`. */
export async function readLog(db: Database, scope: Scope, taskId: string): Promise<KeptLog | undefined> {
  const { cluster, keys } = db;
  const task = digestOf(scope, taskId);
  const [{ kvs: kept }, { kvs: stored }, begun] = await cluster.read([
    { key: keys.task(task) },
    { key: keys.snapshot(task) },
    // The end of a range instead of a limit: etcd visits all keys of a range, whatever its limit.
    { key: keys.fact(task, 1), rangeEnd: keys.fact(task, withRow + 1) },
  ]);
  const { row, revision } = taskOf(kept[0]);
  if (!row) return undefined;
  const snapshot = stored[0] && (await readSnapshot(db, task, taskId, stored[0]));
  const start = snapshot?.version ?? 0;
  // Facts never change: all up to this version existed when the row was read.
  const isWhole = !snapshot && row.version <= withRow;
  const facts = await readUpTo(db, task, start, row.version, isWhole ? begun : undefined);
  if (facts.length < row.version - start) {
    const now = await cluster.get(keys.task(task));
    // The log was deleted since.
    if (now?.modRevision !== revision) return undefined;
  }
  return { row, snapshot, facts };
}

async function readSnapshot(
  db: Database,
  task: string,
  taskId: string,
  kept: KeyValue,
): Promise<KeptLog['snapshot']> {
  try {
    return (await readValue<Pick<KeptLog, 'snapshot'>>(db, task, kept)).snapshot;
  } catch (error) {
    throw unreadable(`The snapshot of task ${taskId}`, error);
  }
}

/** See `Rows.facts`. */
export async function readFacts(
  db: Database,
  scope: Scope,
  taskId: string,
  after: number,
  limit: number,
): Promise<KeptFacts> {
  const task = digestOf(scope, taskId);
  const from = Math.max(0, after);
  const [{ kvs }, begun] = await db.cluster.read([
    { key: db.keys.task(task) },
    commitsAfter(db.keys, task, from, limit),
  ]);
  const version = taskOf(kvs[0]).row?.version ?? 0;
  return { version, facts: await readUpTo(db, task, from, Math.min(version, after + limit), begun) };
}

/** The first commits whose last fact has a position after `after`. */
const commitsAfter = (keys: Keys, task: string, after: number, limit: number): RangeRequest => ({
  ...inside(keys.facts(task)),
  key: keys.fact(task, after + 1),
  limit: Math.min(atOnce, limit),
});

/** The facts after a position, up to `last`. `begun`: the first of their commits, if they were read. */
async function readUpTo(
  db: Database,
  task: string,
  after: number,
  last: number,
  begun: RangeResponse | undefined,
): Promise<StoredFact[]> {
  const facts: StoredFact[] = [];
  let range = begun;
  for (let position = after; position < last; range = undefined) {
    range ??= (await db.cluster.read([commitsAfter(db.keys, task, position, last - position)]))[0];
    const end = range.kvs.at(-1);
    if (!end) break;
    for (const kept of range.kvs) facts.push(...(await factsOf(db, task, kept)));
    position = positionOf(end);
  }
  return facts.filter(({ version }) => version > after && version <= last);
}

/** The fact at a position. Undefined if it is damaged, or gone. */
export async function factAt(
  db: Database,
  task: string,
  position: number,
  kept: KeyValue | undefined,
): Promise<StoredFact | undefined> {
  const facts = kept ? await factsOf(db, task, kept).catch(() => []) : [];
  return facts.find(({ version }) => version === position);
}

/** The facts of one commit. Rejects with code `UNREADABLE` if they are damaged. */
async function factsOf(db: Database, task: string, kept: KeyValue): Promise<StoredFact[]> {
  try {
    const { commitId, first, facts } = await readValue<Entry>(db, task, kept);
    return facts.map((fact, n) => ({ version: first + n, commitId, fact }));
  } catch (error) {
    throw unreadable(`The commit up to ${positionOf(kept)}`, error);
  }
}

const positionOf = (kept: KeyValue): number => Number(lastPart(kept));

const unreadable = (what: string, cause: unknown): StoreError =>
  StoreError.is(cause) ? cause : new StoreError('UNREADABLE', `${what} is damaged`, { cause });

/** Larger texts are kept in parts: what etcd answers to a read of many keys stays small. In bytes. */
export const largestText = 256 * 1024;

const partBytes = 1024 * 1024;

/** The most parts of a text. Those of the facts and of the snapshot are named in one transaction of 128 operations. */
const mostParts = 48;

/** How long parts are kept without their commit, in seconds. */
const uploadSeconds = 120;

/** What stands for a text that is kept in parts. */
interface InParts {
  readonly parts: number;
  readonly id: string;
  /** The change that wrote it. */
  readonly by: string;
}

/** A text whose parts are written. */
export interface Upload {
  readonly id: string;
  readonly value: string;
  /** Takes the parts off their lease. Fails, and with it the transaction, if one has vanished. */
  readonly keep: readonly Write[];
  /** Called after the transaction, whatever came of it. */
  readonly done: () => void;
}

/**
 * Writes the parts of a text, which vanish after two minutes unless `keep` is part of a transaction. `value` stands
 * for the text. Rejects with code `INVALID_COMMIT` for more than 48 MiB.
 */
export async function uploadParts(
  { cluster, keys }: Database,
  task: string,
  text: string,
  by: string,
): Promise<Upload> {
  const bytes = Buffer.from(text);
  const parts = Math.ceil(bytes.length / partBytes);
  if (parts > mostParts) {
    const message = `A commit of ${parts} MiB is larger than the ${mostParts} MiB that a store in etcd takes`;
    throw new StoreError('INVALID_COMMIT', message);
  }
  const inParts: InParts = { parts, id: randomUUID(), by };
  const names = namesOf(keys, task, inParts);
  const lease = await cluster.grantLease(uploadSeconds);
  for (const [n, key] of names.entries()) {
    const value = bytes.subarray(n * partBytes, (n + 1) * partBytes);
    await cluster.transact({ success: [{ put: { key, value, lease } }] });
  }
  return {
    id: inParts.id,
    value: JSON.stringify(inParts),
    keep: names.map((key) => ({ put: { key, ignoreValue: true } })),
    // Parts without a commit vanish at once instead of in two minutes.
    done: () => void cluster.revokeLease(lease).catch(() => {}),
  };
}

/** The value of a key as JSON, put together if it is kept in parts. Throws `SyntaxError` if it is damaged. */
async function readValue<T extends object>(
  { cluster, keys }: Database,
  task: string,
  { value, modRevision }: KeyValue,
): Promise<T> {
  const kept: T | InParts = JSON.parse(String(value));
  if (!('parts' in kept)) return kept;
  const names = namesOf(keys, task, kept);
  const read = async (revision?: number) =>
    (await cluster.getEach(names, (key) => ({ key, revision }))).flatMap(([, part]) => part?.value ?? []);
  let parts = await read();
  // Another value has replaced this one. Its parts are in the history, where they were written with it.
  if (parts.length < names.length) parts = await read(modRevision);
  const missing = names.length - parts.length;
  if (missing > 0) throw new SyntaxError(`${missing} of ${names.length} parts are missing`);
  return JSON.parse(String(Buffer.concat(parts)));
}

const namesOf = (keys: Keys, task: string, { parts, id }: InParts): string[] =>
  Array.from({ length: parts }, (_, n) => keys.part(task, id, n));

/** See `Rows.every`. */
export async function everyTask(
  { cluster, keys }: Database,
  from: string | undefined,
  limit: number,
): Promise<RowPage> {
  const range = inside(keys.tasks);
  const [{ kvs }] = await cluster.read([{ ...range, key: from ?? range.key, limit }]);
  const last = kvs.at(-1);
  return {
    rows: kvs.flatMap((kept) => taskOf(kept).row ?? []),
    // The key that comes next after it.
    next: last && kvs.length === limit ? `${last.key}\0` : undefined,
  };
}
