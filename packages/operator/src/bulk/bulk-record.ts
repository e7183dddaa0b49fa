import { A2AError } from '@batonjs/protocol/errors';
import { allRecords, type Clock, newId, recordName } from '@batonjs/server/internals';
import type { RecordStore, Scope } from '@batonjs/store';
import { tried } from '../operated.ts';
import type { BulkRequest } from './bulk.ts';
import { type BulkCursor, firstCursor } from './bulk-cursor.ts';

/** A run as its record says it. */
export interface BulkRun {
  readonly id: string;
  /** The scope of its tasks. */
  readonly scope: Scope;
  /** Those whose tasks come after it, while the run is not over. */
  readonly others?: readonly Scope[] | undefined;
  readonly request: BulkRequest;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly cursor: BulkCursor;
  readonly isOver: boolean;
}

/** How long a run is remembered after its record was written last, in milliseconds. */
const rememberedMs = 30 * 86_400_000;
/** How long a write is tried while the store does not answer, in milliseconds. */
const tryForMs = 10_000;

type Began = Pick<BulkRun, 'scope' | 'others' | 'request' | 'startedAt'>;

interface RecordSource {
  readonly store: RecordStore;
  readonly clock: Clock;
}

export type BulkRecord = ReturnType<typeof recordOf>;

/** One process at a time writes a record: each write expects the revision that it knows. */
function recordOf(run: BulkRun, queue: string, { store, clock }: RecordSource, known = 0) {
  const name = recordName('bulk', queue, run.id);
  /** Tells the writes of this process from those of others. */
  const by = newId(clock);
  let revision = known;

  async function write(more: Partial<BulkRun>): Promise<void> {
    const value = { ...run, ...more, by };
    const options = { ttlMs: rememberedMs, scope: run.scope };
    const put = async () =>
      (await store.putRecord(name, revision, value, options)) ?? (await writtenRevision(value));
    revision = await tried(put, clock, tryForMs);
  }

  /** The revision of a value that an earlier try has written. */
  async function writtenRevision(value: object): Promise<number> {
    const kept = await store.getRecord(name);
    if (JSON.stringify(kept?.value) === JSON.stringify(value)) return kept!.revision;
    throw new A2AError(
      'UNSUPPORTED_OPERATION',
      'Another process goes on with this run or ended it, or its caller was erased',
    );
  }

  return {
    run,
    /** Writes how far the run is. Rejects with `UNSUPPORTED_OPERATION` if another process goes on with it. */
    note: (cursor: BulkCursor): Promise<void> => write({ cursor }),
    /** Ends the record, which names no other caller from then on. */
    end: (cursor: BulkCursor): Promise<void> => write({ others: undefined, cursor, isOver: true }),
  };
}

export async function beginRecord(began: Began, queue: string, source: RecordSource): Promise<BulkRecord> {
  const run = { ...began, id: newId(source.clock), cursor: firstCursor, isOver: false };
  const record = recordOf(run, queue, source);
  await record.note(firstCursor);
  return record;
}

/** Reads a record. Rejects with `TASK_NOT_FOUND`. */
export async function openRecord(id: string, queue: string, source: RecordSource): Promise<BulkRecord> {
  const kept = await source.store.getRecord(recordName('bulk', queue, id));
  if (!kept) throw new A2AError('TASK_NOT_FOUND', `There is no run ${id}`);
  return recordOf(runIn(kept), queue, source, kept.revision);
}

/** The runs of a queue that the store remembers, those that were written last first. */
export async function bulkRuns(store: RecordStore, queue: string, limit = 50): Promise<BulkRun[]> {
  const records = await allRecords(store, { prefix: recordName('bulk', queue, '') });
  return records
    .sort((one, other) => other.revision - one.revision)
    .slice(0, limit)
    .map(runIn);
}

function runIn({ value }: { readonly value: unknown }): BulkRun {
  const { by: _, ...run } = value as BulkRun & { readonly by: string };
  return run;
}
