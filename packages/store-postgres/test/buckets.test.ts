import pg from 'pg';
import { afterAll, describe, expect, it } from 'vitest';
import { postgresForTests } from '../../../test/support/postgres.ts';
import { postgresStore } from '../src/index.ts';

const postgres = await postgresForTests();
afterAll(() => postgres?.stop());

describe.skipIf(!postgres)('PostgreSQL', () => {
  it('deletes full buckets by and by, and has them in no write-ahead log', async () => {
    const schema = `buckets_${process.pid}`;
    const pool = new pg.Pool({ connectionString: postgres!.url, max: 8 });
    const store = postgresStore(pool, { schema });
    const slow = { burst: 1, everyMs: 1e9 };
    await store.take!('slow', slow);
    const quick = { burst: 1, everyMs: 0.001 };
    await Promise.all(Array.from({ length: 1_020 }, (_, n) => store.take!(`b${n}`, quick)));
    const { rows } = await pool.query(`SELECT count(*)::int AS count FROM "${schema}".buckets`);
    expect(rows[0].count).toBeLessThan(500);
    expect(await store.take!('slow', slow)).toBeGreaterThan(0);
    const kept = await pool.query('SELECT relpersistence FROM pg_class WHERE oid = $1::regclass', [
      `"${schema}".buckets`,
    ]);
    expect(kept.rows).toEqual([{ relpersistence: 'u' }]);
    await store.close();
    await pool.query(`DROP SCHEMA "${schema}" CASCADE`);
    await pool.end();
  });
});
