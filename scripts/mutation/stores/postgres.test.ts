import { describePushConfigStore, describeTaskStore } from '@batonjs/store-conformance';
import { postgresStore } from '@batonjs/store-postgres';
import pg from 'pg';
import { afterAll } from 'vitest';
import { emptied } from '../../../packages/store-postgres/test/empty.ts';

/** On the PostgreSQL of the run, in a schema of its own. */
const schema = `mutated_${process.pid}`;
const pool = new pg.Pool({ connectionString: process.env.POSTGRES_URL, max: 8 });
afterAll(() => pool.end());

async function open() {
  const store = postgresStore(pool, { schema, textSearch: true });
  await store.identity();
  await pool.query(emptied(schema).join(';'));
  const reopen = async () => {
    await store.close();
    return postgresStore(pool, { schema, textSearch: true });
  };
  return { store, reopen, second: postgresStore(pool, { schema, textSearch: true }) };
}

describeTaskStore('postgresStore', open, { runs: 3 });
describePushConfigStore('postgresStore', open, { runs: 3 });
