export type { Durability } from './open-database.ts';
export { type SqliteStoreOptions, sqliteStore } from './sqlite-store.ts';
