import { StoreError } from '../port/commit.ts';
import type { RecordOptions, RecordQuery, StoredRecord } from '../port/record-store.ts';
import type { RecordRow } from '../port/rows.ts';
import { type Found, foundOf, type Step, type Wanted } from './change.ts';

const longestJson = 65_536;
/** A hundred years. */
const longestMs = 36_525 * 86_400_000;
/** The first character comes before all that a name may have, and the last one after them. */
const [first, last] = [' ', '\u007f'];

/** The decision to write a record; see `RecordStore.putRecord`. Throws `INVALID_RECORD`. */
export function putRecordStep(
  name: string,
  revision: number,
  value: unknown,
  options: RecordOptions = {},
): Step<number | undefined, never> {
  const { ttlMs } = options;
  if (ttlMs !== undefined && !(ttlMs > 0 && ttlMs <= longestMs))
    throw invalid(
      `The time of the record ${name} is ${ttlMs} ms: it has to be more than 0, and at most ${longestMs}`,
    );
  const json = JSON.stringify(value);
  if (json === undefined) throw invalid(`The value of the record ${name} is no JSON`);
  if (json.length > longestJson)
    throw invalid(`The record ${name} takes ${json.length} characters of JSON, more than ${longestJson}`);
  return {
    wanted: recordWanted(name),
    decide: (found) => {
      const before = foundRecord(found);
      if ((seen(before, found)?.revision ?? 0) !== revision) return { result: undefined };
      const after = rowAfter(before, name, json, found.now, options);
      return { result: after.revision, records: [{ before, after }] };
    },
  };
}

/** The record that is written in the place of another one. */
export function rowAfter(
  before: RecordRow | undefined,
  name: string,
  json: string,
  now: number,
  { ttlMs, scope }: RecordOptions,
): RecordRow {
  const revision = Math.max((before?.revision ?? 0) + 1, Math.floor(now));
  const expiresAt = ttlMs === undefined ? undefined : Math.ceil(now + ttlMs);
  return { name, revision, json, scope, ttlMs, expiresAt };
}

/** The decision to delete a record; resolves to whether it was there. */
export const deleteRecordStep = (name: string, revision?: number): Step<boolean, never> => ({
  wanted: recordWanted(name),
  decide: (found) => {
    const before = foundRecord(found);
    const kept = seen(before, found);
    if (!before || !kept || (revision !== undefined && kept.revision !== revision)) return { result: false };
    return { result: true, records: [{ before, after: undefined }] };
  },
});

/** The decision to delete up to `limit` records whose time is over; resolves to how many. */
export const expireStep = (limit: number): Step<number, never> => ({
  wanted: { expired: { limit } },
  isMostlyIdle: true,
  decide: (found) => {
    const expired = foundOf(found, 'expired');
    if (expired.length === 0) return { result: 0 };
    return { result: expired.length, records: expired.map((before) => ({ before, after: undefined })) };
  },
});

/** A record by its name. Throws `INVALID_RECORD`. */
export const recordWanted = (name: string): Wanted => ({ records: [mustBeName(name)] });

/** The records of a query, of which some may not be seen any more. Throws `INVALID_RECORD`. */
export function recordsWanted({ prefix = '', scope, limit, after }: RecordQuery): Wanted {
  for (const name of [prefix, after]) if (name) mustBeName(name);
  const from = after === undefined || after < prefix ? prefix : `${after}${first}`;
  return { listed: { scope, from, until: `${prefix}${last}`, limit } };
}

/** What callers see of a record; nothing of one whose time is over. */
export function storedRecord(row: RecordRow | undefined, found: Found): StoredRecord | undefined {
  const kept = seen(row, found);
  return kept && { name: kept.name, revision: kept.revision, value: JSON.parse(kept.json) };
}

/** The only record that was wanted by its name. */
export const foundRecord = (found: Found): RecordRow | undefined => foundOf(found, 'records')[0];

/** A clock that was wrong for a moment cannot keep a record for longer than twice its time. */
export function seen(row: RecordRow | undefined, { now }: Found): RecordRow | undefined {
  if (row?.expiresAt === undefined || row.ttlMs === undefined) return row;
  return row.expiresAt > now && row.expiresAt - now <= 2 * row.ttlMs ? row : undefined;
}

function mustBeName(name: string): string {
  if (/^[\w.~%/=-]{1,512}$/.test(name)) return name;
  throw invalid(`A record is named by 1 to 512 letters, digits and -._~%/=, not ${JSON.stringify(name)}`);
}

const invalid = (message: string): StoreError => new StoreError('INVALID_RECORD', message);
