import { postgresStore } from '@batonjs/store-postgres';

/** Tasks in PostgreSQL, also through a pooler in transaction mode: few connections, and none that listens. */
export const store = postgresStore(
  process.env.DATABASE_URL ?? 'postgres://postgres:postgres@127.0.0.1:5432/postgres',
  { notify: false, connections: 3, textSearch: true },
);
