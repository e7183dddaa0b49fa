import { type SqlDatabase, type SqlDatabaseOptions, sqlDatabase } from '../sql-database.ts';
import type { Dialect } from '../sql-driver.ts';

/** The used part of a transaction of Prisma. */
export interface PrismaTransaction {
  $queryRawUnsafe<T>(statement: string, ...values: unknown[]): PromiseLike<T>;
}

/** The used part of a client of Prisma. */
export interface PrismaClient<Tx> {
  $transaction<T>(run: (tx: Tx) => Promise<T>, options?: { maxWait?: number; timeout?: number }): Promise<T>;
}

/** Settings of a database by Prisma. */
export interface PrismaDatabaseOptions extends SqlDatabaseOptions {
  /** How long a transaction may take, in milliseconds: Prisma rolls back those that take longer. Default 5,000. */
  readonly timeout?: number | undefined;
  /** How long a transaction waits for a connection, in milliseconds. Default 2,000. */
  readonly maxWait?: number | undefined;
}

/** PostgreSQL or SQLite by Prisma. `fn` of `turn.transaction` gets what `$transaction` gives. */
export const prismaDatabase = <Tx extends PrismaTransaction>(
  client: PrismaClient<Tx>,
  dialect: Dialect,
  { timeout = 5_000, maxWait = 2_000, ...options }: PrismaDatabaseOptions = {},
): SqlDatabase<Tx> =>
  sqlDatabase<Tx>(
    {
      dialect,
      transaction: (run) => client.$transaction(run, { timeout, maxWait }),
      query: async (tx, statement, values) => await tx.$queryRawUnsafe<unknown[]>(statement, ...values),
    },
    options,
  );
