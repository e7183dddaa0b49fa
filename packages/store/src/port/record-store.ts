import type { Scope } from './lease.ts';

/** A small JSON document that a store keeps beside its tasks. */
export interface StoredRecord {
  readonly name: string;
  /** Grows with each write, also over a deletion. */
  readonly revision: number;
  readonly value: unknown;
}

/** What a record is put with. Each put says it again. */
export interface RecordOptions {
  /** From so many milliseconds on it is not seen any more, by the store's wall clock. Default: it stays. */
  readonly ttlMs?: number | undefined;
  /** Whose record it is: found by it when everything of a caller is erased. */
  readonly scope?: Scope | undefined;
}

export interface RecordQuery {
  /** Those whose names begin with this. */
  readonly prefix?: string;
  /** Those of this scope. */
  readonly scope?: Scope;
  readonly limit: number;
  /** Those after this name. */
  readonly after?: string;
}

/**
 * Keeps small JSON documents: what processes on a store have to agree on, and no task. A name is 1 to 512 letters, digits
 * and characters of `-._~%/=`; ids of others are encoded in it. A value takes at most 65,536 characters of JSON. Other
 * ones reject with `INVALID_RECORD`. Records that were deleted, or whose time is over, are not seen.
 */
export interface RecordStore {
  getRecord(name: string): Promise<StoredRecord | undefined>;

  /**
   * Writes a record if it has this revision; 0: if there is none. Resolves to its new revision, or to undefined if it has
   * another one.
   */
  putRecord(
    name: string,
    revision: number,
    value: unknown,
    options?: RecordOptions,
  ): Promise<number | undefined>;

  /** Deletes a record; with a revision, only if it has that one. Resolves to whether it did. */
  deleteRecord(name: string, revision?: number): Promise<boolean>;

  /** Up to `limit` records in the order of their names. */
  listRecords(query: RecordQuery): Promise<readonly StoredRecord[]>;
}
