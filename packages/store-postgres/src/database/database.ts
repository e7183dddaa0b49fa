import type { Moment } from '@batonjs/store/adapter';

/** A row as the driver returns it. */
export type DatabaseRow = Readonly<Record<string, unknown>>;

/** One connection, inside a transaction. */
export interface Session {
  query(text: string, values?: readonly unknown[]): Promise<DatabaseRow[]>;
  /** The same for a statement that is run again and again: the database may keep its plan under this name. */
  queryPlanned(name: string, text: string, values: readonly unknown[]): Promise<DatabaseRow[]>;
}

/** Receives messages of a channel. */
export interface Listener {
  readonly onMessage: (message: string) => void;
  /** Called once when the connection is lost, and not after `stop`. */
  readonly onLost: () => void;
}

/** The work inside a transaction. */
export type Work<T> = (
  session: Session,
  now: number,
  opened: readonly (readonly DatabaseRow[])[],
) => Promise<T>;

/** The rows of statements, and the database's clock after them, in milliseconds since 1970. */
export interface Looked {
  readonly now: number;
  readonly rows: readonly (readonly DatabaseRow[])[];
}

/** The members of a driver that the store uses. */
export interface Database {
  /** The name of the database in errors, without its password. */
  readonly name: string;
  /** How long a transaction waits for the lock of a row, in milliseconds. */
  readonly lockTimeoutMs: number;
  /** Runs one statement in a transaction of its own. */
  query(text: string, values?: readonly unknown[]): Promise<DatabaseRow[]>;
  /** The same for one that writes; see `Session.queryPlanned`. A rejection means the same as that of `transact`. */
  write(name: string, text: string, values: readonly unknown[]): Promise<DatabaseRow[]>;
  /** Runs statements without values in one round trip. */
  look(statements: readonly string[]): Promise<Looked>;
  /**
   * Runs `work` in one transaction. `opening`: statements without values that are run first, in one round trip; `work`
   * gets the rows of each. `now`: the database's clock after them, in milliseconds since 1970. A rejection means
   * that nothing was written, unless it is an `OutcomeUnknown`.
   */
  transact<T>(work: Work<T>, opening?: readonly string[]): Promise<T>;
  /** Resolves once messages of the channel are received, to the function that stops it. */
  listen(channel: string, listener: Listener): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

/** The connection was lost while the transaction was committed, or while a statement of its own was. */
export class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown';
}

/** All clocks are that of the database. */
export const momentAt = (now: number): Moment => ({ now, orderNow: now, leaseNow: now });

/** The time of the database's clock in milliseconds since 1970. */
export const clock = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint';
