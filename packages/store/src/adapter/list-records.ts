import type { RecordQuery, StoredRecord } from '../port/record-store.ts';
import { foundOf } from '../rules/change.ts';
import { recordsWanted, storedRecord } from '../rules/record.ts';
import { readParts } from './in-parts.ts';
import type { Rows } from './rows.ts';

/** Lists records; see `RecordStore.listRecords`. */
export async function listRecords<Json>(rows: Rows<Json>, query: RecordQuery): Promise<StoredRecord[]> {
  const { limit } = query;
  const records: StoredRecord[] = [];
  for (let page = query; records.length < limit; ) {
    const parts = await readParts(rows, recordsWanted(page));
    const some = parts
      .flatMap((found) => foundOf(found, 'listed').map((row) => ({ row, found })))
      .sort((one, other) => (one.row.name < other.row.name ? -1 : 1))
      .slice(0, limit);
    // Those whose time is over are not seen.
    records.push(...some.flatMap(({ row, found }) => storedRecord(row, found) ?? []));
    if (some.length < limit) break;
    page = { ...page, after: some.at(-1)!.row.name };
  }
  return records.slice(0, limit);
}
