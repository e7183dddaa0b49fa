import { postgresStore } from '@batonjs/store-postgres';

/** Tasks in PostgreSQL, for any number of processes. `docker compose up postgres` starts one. */
export const store = postgresStore(
  process.env.DATABASE_URL ?? 'postgres://postgres:postgres@127.0.0.1:5432/postgres',
  // The words of first messages are indexed, so that the inspector and `baton tasks --text` find them.
  { textSearch: true },
);

export const closeStore = () => store.close();
