import type { Moment, RecordRow, Wanted } from '@batonjs/store/adapter';
import type { Database } from '../layout/database.ts';
import { insideUntil } from '../layout/keys.ts';
import type { KeyValue } from '../wire/messages.ts';
import type { Look } from './look.ts';

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
  return named(
    db,
    kvs.map(({ key }) => String(key).slice(folder.length)),
    look,
  );
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
  return named(
    db,
    kvs.map(({ key }) => String(key).slice(start)),
    look,
  );
}

/** Records by their names; those that are gone meanwhile are missed. */
async function named(db: Database, names: readonly string[], look: Look): Promise<RecordRow[]> {
  const keys = names.map((name) => db.keys.record(name));
  const read = await db.cluster.getEach(keys, (key) => ({ key }));
  const rows = read.flatMap(([key, kept]) => recordIn(kept, key, look) ?? []);
  if (rows.length < names.length) look.hasMissed = true;
  return rows;
}
