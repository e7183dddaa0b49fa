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
  readonly others?: readonly Scope[];
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

/** The record of a run. One process at a time writes it: each write expects the revision that it knows. */
export class BulkRecord {
  readonly run: BulkRun;
  readonly #name: string;
  readonly #source: RecordSource;
  /** Tells the writes of this process from those of others. */
  readonly #by: string;
  #revision: number;

  private constructor(run: BulkRun, queue: string, source: RecordSource, revision = 0) {
    this.run = run;
    this.#name = recordName('bulk', queue, run.id);
    this.#source = source;
    this.#by = newId(source.clock);
    this.#revision = revision;
  }

  /** Begins a record. */
  static async begin(began: Began, queue: string, source: RecordSource): Promise<BulkRecord> {
    const run = { ...began, id: newId(source.clock), cursor: firstCursor, isOver: false };
    const record = new BulkRecord(run, queue, source);
    await record.note(firstCursor);
    return record;
  }

  /** Reads a record. Rejects with `TASK_NOT_FOUND`. */
  static async open(id: string, queue: string, source: RecordSource): Promise<BulkRecord> {
    const kept = await source.store.getRecord(recordName('bulk', queue, id));
    if (!kept) throw new A2AError('TASK_NOT_FOUND', `There is no run ${id}`);
    return new BulkRecord(runIn(kept), queue, source, kept.revision);
  }

  /** Writes how far the run is. Rejects with `UNSUPPORTED_OPERATION` if another process goes on with it. */
  note(cursor: BulkCursor): Promise<void> {
    return this.#write({ ...this.run, cursor });
  }

  /** Ends the record, which names no other caller from then on. */
  end(cursor: BulkCursor): Promise<void> {
    return this.#write({ ...this.run, others: undefined, cursor, isOver: true });
  }

  async #write(run: object): Promise<void> {
    const value = { ...run, by: this.#by };
    const write = async () => (await this.#put(value)) ?? (await this.#written(value));
    this.#revision = await tried(write, this.#source.clock, tryForMs);
  }

  #put(value: object): Promise<number | undefined> {
    const options = { ttlMs: rememberedMs, scope: this.run.scope };
    return this.#source.store.putRecord(this.#name, this.#revision, value, options);
  }

  /** The revision of a value that an earlier try has written. */
  async #written(value: object): Promise<number> {
    const kept = await this.#source.store.getRecord(this.#name);
    if (JSON.stringify(kept?.value) === JSON.stringify(value)) return kept!.revision;
    throw new A2AError(
      'UNSUPPORTED_OPERATION',
      'Another process goes on with this run or ended it, or its caller was erased',
    );
  }
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
