import type { RecordStore } from '@batonjs/store';
import { sha256 } from '#bytes';

/** The name of a record: its kind, then what it is about. */
export const recordName = (kind: string, ...ids: readonly string[]): string =>
  [kind, ...ids.map(wordOf)].join('/');

/** Ids may be long, and hold any character. Nothing but a digest begins with `=`. */
function wordOf(id: string): string {
  const word = encodeURIComponent(id).replaceAll(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16)}`);
  return word.length <= 160 ? word : `=${sha256(id, 'base64url')}`;
}

/** Writes what `decide` makes of the value of a record; nothing for undefined. Decides again if another process wrote. */
export async function changeRecord<Value>(
  store: Pick<RecordStore, 'getRecord' | 'putRecord'>,
  name: string,
  decide: (value: Value | undefined) => Value | undefined,
  options?: Parameters<RecordStore['putRecord']>[3],
): Promise<void> {
  for (let isWritten = false; !isWritten; ) {
    const record = await store.getRecord(name);
    const value = decide(record?.value as Value | undefined);
    if (value === undefined) return;
    isWritten = (await store.putRecord(name, record?.revision ?? 0, value, options)) !== undefined;
  }
}

type StoredRecord = Awaited<ReturnType<RecordStore['listRecords']>>[number];

const pageSize = 100;

/** All records of a query. */
export async function allRecords(
  store: RecordStore,
  query: { readonly prefix?: string; readonly scope?: string },
): Promise<StoredRecord[]> {
  const all: StoredRecord[] = [];
  for (;;) {
    const last = all.at(-1);
    const page = await store.listRecords({ ...query, limit: pageSize, ...(last && { after: last.name }) });
    all.push(...page);
    if (page.length < pageSize) return all;
  }
}
