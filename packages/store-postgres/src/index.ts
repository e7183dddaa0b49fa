export type { PGliteLike } from './database/pglite-database.ts';
export { type PostgresStoreOptions, postgresStore } from './postgres-store.ts';
