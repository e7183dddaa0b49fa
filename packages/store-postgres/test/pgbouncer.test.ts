import { describePushConfigStore, describeTaskStore } from '@batonjs/store-conformance';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasPgBouncer, pgbouncer } from '../../../test/support/pgbouncer.ts';
import { postgresForTests } from '../../../test/support/postgres.ts';
import { postgresStore } from '../src/index.ts';
import { emptied } from './empty.ts';

/** As on hosts that keep no process: a pooler that gives each transaction another connection, and one connection a process. */

const postgres = (await hasPgBouncer()) ? await postgresForTests() : undefined;

describe.skipIf(!postgres)('behind PgBouncer in transaction mode, with one connection', () => {
  const schema = `pooled_${process.pid}`;
  const ends: (() => unknown)[] = [];
  const admin = new pg.Pool({ connectionString: postgres?.url, max: 1 });
  let url = '';
  beforeAll(async () => {
    url = await pgbouncer(postgres!.url, (end) => ends.push(end));
  });
  afterAll(async () => {
    for (const end of ends) await end();
    await admin.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
    await admin.end();
  });

  const openStore = () => postgresStore(url, { schema, notify: false, connections: 1, textSearch: true });

  async function open() {
    const store = openStore();
    await store.identity();
    await admin.query(emptied(schema).join(';'));
    return {
      store,
      second: openStore(),
      async reopen() {
        await store.close();
        return openStore();
      },
    };
  }

  describeTaskStore('postgresStore', open, { runs: 3 });
  describePushConfigStore('postgresStore', open, { runs: 3 });

  it('gives each transaction another connection', async () => {
    const pool = new pg.Pool({ connectionString: url, max: 1 });
    const pids = [];
    for (let n = 0; n < 4; n++)
      pids.push((await pool.query('SELECT pg_backend_pid()')).rows[0].pg_backend_pid);
    await pool.end();
    expect(new Set(pids).size).toBeGreaterThan(1);
  });
});
