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

/** A value that is bound to a statement. */
export type SqlValue = string | number | null;

/** A row of a result, by column. */
export type SqlRow = Readonly<Record<string, unknown>>;

/** A statement with parameters `?` or `?1`, which are bound in their order. Runs at once. */
export interface Statement {
  /** The first row, or undefined. The statement returns one row at most. */
  get(...values: SqlValue[]): SqlRow | undefined;
  all(...values: SqlValue[]): SqlRow[];
  /** The rows one after the other, so that not all of them are in memory. The reader may stop early. */
  iterate(...values: SqlValue[]): Iterable<SqlRow>;
  /** `changes`: 0 if the statement changed nothing. */
  run(...values: SqlValue[]): { readonly changes: number | bigint };
}

/** A SQLite database, 3.38 or newer. That of `node:sqlite` is one. */
export interface Database {
  prepare(sql: string): Statement;
}

/** Large enough to need pages of its own: the write fails if the database cannot grow. */
const content = ' '.repeat(32 * 1024);

/** A row that shows whether the database can be written. */
export class ProbeRow {
  readonly #insert;
  readonly #delete;

  constructor(db: Database) {
    // No task has this number.
    this.#insert = db.prepare('INSERT INTO snapshots (task, version, snapshot) VALUES (-1, 0, ?)');
    this.#delete = db.prepare('DELETE FROM snapshots WHERE task = -1');
  }

  /** Writes the row and deletes it. Called inside the caller's transaction, which must be committed to show anything. */
  write(): void {
    this.#insert.run(content);
    this.#delete.run();
  }
}
