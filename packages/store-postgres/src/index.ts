export type { PGliteLike } from './database/database.ts';
export { type PostgresStoreOptions, postgresStore } from './postgres-store.ts';
