/** A row as the driver returns it. */
export type DatabaseRow = Readonly<Record<string, unknown>>;

/** One connection, inside a transaction. */
export interface Session {
  query(text: string, values?: readonly unknown[]): Promise<DatabaseRow[]>;
}

/** Receives messages of a channel. */
export interface Listener {
  readonly onMessage: (message: string) => void;
  /** Called once when the connection is lost, and not after `stop`. */
  readonly onLost: () => void;
}

/** What the store needs of a driver. */
export interface Database {
  /** The name of the database in errors, without its password. */
  readonly name: string;
  /** Runs one statement in a transaction of its own. */
  query(text: string, values?: readonly unknown[]): Promise<DatabaseRow[]>;
  /**
   * Runs `work` in one transaction. `now`: the database's clock at its start, in milliseconds since 1970. A rejection
   * means that nothing was written, unless it is an `OutcomeUnknown`.
   */
  transact<T>(work: (session: Session, now: number) => Promise<T>): Promise<T>;
  /** Resolves once messages of the channel are received, to the function that stops it. */
  listen(channel: string, listener: Listener): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

/** The connection was lost while the transaction was committed. */
export class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown';
}

/** The time of the database's clock in milliseconds since 1970. */
export const clock = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint';
