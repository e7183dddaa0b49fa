/** Called around each transaction, once for all writes in it. */
export interface TransactionHook {
  afterBegin?(): void;
  beforeCommit?(): void;
  afterCommit?(): void;
  afterRollback?(): void;
}

/** How the work of a store becomes transactions. They fail with `UNUSABLE` once the database cannot be used any more. */
export interface Transactions {
  /** Runs `work`, which only reads, on one state of the database. */
  read<T>(work: () => T): Promise<T>;
  /**
   * Runs `work` in a transaction. Resolves once that is committed. `work` refuses by throwing a `StoreError` before it
   * changes anything.
   */
  write<T>(work: () => T): Promise<T>;
  /** The same for what a power failure may undo. */
  writeUnsynced<T>(work: () => T): Promise<T>;
  /** Lets the event loop do other work. */
  pause(): Promise<void>;
}
