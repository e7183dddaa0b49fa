export type { Durability } from './database/open-database.ts';
export { type SqliteStoreOptions, sqliteStore } from './sqlite-store.ts';
