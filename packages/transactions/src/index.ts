export type { TransactionDatabase, TransactionKey } from '@batonjs/server/internals';
export { pgDatabase } from './drivers/pg.ts';
export { sqliteDatabase } from './drivers/sqlite.ts';
export { type SqlDatabase, type SqlDatabaseOptions, sqlDatabase } from './sql-database.ts';
export type { Dialect, SqlDriver, SqlValue } from './sql-driver.ts';
export * from './submissions/drain.ts';
export { transactionTables } from './tables/schema.ts';
export { TransactionError, type TransactionErrorCode } from './transaction-error.ts';
