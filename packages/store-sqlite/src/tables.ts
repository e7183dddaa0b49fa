export { OpenCalls } from './open-calls.ts';
export { openTables, type Tables } from './open-tables.ts';
export type { Database, SqlRow, SqlValue, Statement } from './sql/database.ts';
export { migrations, mustBeKnown } from './sql/schema.ts';
export type { Transactions } from './sql/transactions.ts';
export { type StoreOnTables, type StoreOnTablesOptions, storeOnTables } from './store-on-tables.ts';
