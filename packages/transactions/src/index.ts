export type { TransactionDatabase, TransactionKey } from '@batonjs/server/internals';
export { drizzleDatabase, drizzleSqliteDatabase } from './drivers/drizzle.ts';
export { kyselyDatabase } from './drivers/kysely.ts';
export { pgDatabase } from './drivers/pg.ts';
export { postgresJsDatabase } from './drivers/postgres-js.ts';
export { type PrismaDatabaseOptions, prismaDatabase } from './drivers/prisma.ts';
export { sqliteDatabase } from './drivers/sqlite.ts';
export { type SqlDatabase, type SqlDatabaseOptions, sqlDatabase } from './sql-database.ts';
export type { Dialect, SqlDriver, SqlValue } from './sql-driver.ts';
export {
  type Draining,
  type DrainOptions,
  drainSubmissions,
  type SubmitOptions,
  type Submitted,
  submit,
} from './submissions/drain.ts';
export { transactionTables } from './tables/schema.ts';
export { TransactionError, type TransactionErrorCode } from './transaction-error.ts';
