import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { chunk, chunkAfter, headAt } from '../../../test/kit/task-logs.ts';
import { postgresForTests } from '../../../test/support/postgres.ts';
import { postgresStore } from '../src/index.ts';

const server = await postgresForTests();

describe.skipIf(!server)('The first page of many tasks', () => {
  it('reads as many as it shows, also before the tables are analyzed', async () => {
    const schema = 'first_page';
    const pool = new pg.Pool({ connectionString: server!.url, max: 1 });
    const store = postgresStore(pool, { schema });
    const read = async (): Promise<number> => {
      await pool.query('SELECT pg_stat_force_next_flush()');
      const { rows } = await pool.query(
        'SELECT sum(idx_tup_read) AS rows FROM pg_stat_user_indexes WHERE schemaname = $1',
        [schema],
      );
      return Number(rows[0].rows);
    };
    try {
      const timeOf = (n: number) => new Date(Date.UTC(2026, 0, 1) + n).toISOString();
      const commits = Array.from({ length: 2_000 }, (_, n) =>
        chunkAfter(0, { taskId: `task ${n}`, head: headAt(1, { statusAt: timeOf(n) }) }),
      );
      await Promise.all(commits.map((commit) => store.commit(commit)));
      const before = await read();
      const page = await store.list('s', { limit: 10, totalAtMost: 100 });
      expect(page.tasks.map(({ taskId }) => taskId)).toEqual(
        Array.from({ length: 10 }, (_, n) => `task ${1_999 - n}`),
      );
      expect((await read()) - before).toBeLessThan(100);
    } finally {
      await store.close();
      await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
      await pool.end();
    }
  });
});

describe.skipIf(!server)('A plan that was kept while there were few tasks', () => {
  it('reads no whole table once there are many', async () => {
    const schema = 'kept_plans';
    // One connection: the plan is the one that was kept, and the counters are those of its own session.
    const pool = new pg.Pool({ connectionString: server!.url, max: 1 });
    const store = postgresStore(pool, { schema });
    const commitOf = (taskId: string, version: number) =>
      chunkAfter(version, { taskId, unlessDeleted: version === 0 });
    const readInScans = async (): Promise<string> => {
      await pool.query('SELECT pg_stat_force_next_flush()');
      const { rows } = await pool.query(
        `SELECT sum(seq_tup_read)::text AS rows FROM pg_stat_user_tables
         WHERE schemaname = $1 AND relname IN ('tasks', 'facts', 'webhooks', 'records')`,
        [schema],
      );
      return rows[0].rows;
    };
    try {
      // A session keeps a plan for all values after five plans that were made for one.
      for (let version = 0; version < 10; version++) await store.commit(commitOf('first', version));
      for (let n = 0; n < 10; n++) await store.readFacts('s', 'first', n, 2);
      await Promise.all(Array.from({ length: 1_000 }, (_, n) => store.commit(commitOf(`task ${n}`, 0))));
      const before = await readInScans();
      for (let version = 10; version < 20; version++) await store.commit(commitOf('first', version));
      await store.commit(commitOf('last', 0));
      await Promise.all(Array.from({ length: 10 }, (_, n) => store.readFacts('s', `task ${n}`, 0, 2)));
      expect(await readInScans()).toBe(before);
    } finally {
      await store.close();
      await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
      await pool.end();
    }
  });
});

describe.skipIf(!server)('A prepared statement', () => {
  it('is not left behind on a connection with `notify: false`: behind PgBouncer, others use it next', async () => {
    const schema = 'prepared';
    const pool = new pg.Pool({ connectionString: server!.url, max: 1 });
    const polling = postgresStore(pool, { schema, notify: false });
    const store = postgresStore(pool, { schema });
    const prepared = async () => (await pool.query('SELECT name FROM pg_prepared_statements')).rows.length;
    try {
      await polling.commit(chunkAfter(0));
      await polling.claim({ queue: 'q', holder: 'h', ttlMs: 60_000, limit: 1 });
      await polling.load('s', 't');
      expect(await prepared()).toBe(0);
      await store.commit(chunkAfter(1));
      expect(await prepared()).toBe(1);
    } finally {
      for (const one of [polling, store]) await one.close();
      await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
      await pool.end();
    }
  });
});

describe.skipIf(!server)('The buckets of rates', () => {
  it('are deleted by and by when they are full, and are in no write-ahead log', async () => {
    const schema = 'buckets';
    const pool = new pg.Pool({ connectionString: server!.url, max: 8 });
    const store = postgresStore(pool, { schema });
    const slow = { burst: 1, everyMs: 1e9 };
    const quick = { burst: 1, everyMs: 0.001 };
    try {
      await store.take!('slow', slow);
      await Promise.all(Array.from({ length: 1_020 }, (_, n) => store.take!(`b${n}`, quick)));
      const count = async () =>
        (await pool.query(`SELECT count(*)::int AS count FROM ${schema}.buckets`)).rows[0].count;
      await expect.poll(count).toBeLessThan(500);
      expect(await store.take!('slow', slow)).toBeGreaterThan(0);
      const table = `${schema}.buckets`;
      const kept = await pool.query('SELECT relpersistence FROM pg_class WHERE oid = $1::regclass', [table]);
      expect(kept.rows).toEqual([{ relpersistence: 'u' }]);
    } finally {
      await store.close();
      await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
      await pool.end();
    }
  });

  it('are taken from while full ones cannot be deleted', async () => {
    const schema = 'unswept';
    const pool = new pg.Pool({ connectionString: server!.url, max: 8 });
    const store = postgresStore(pool, { schema });
    const quick = { burst: 1, everyMs: 0.001 };
    try {
      await store.take!('first', quick);
      await pool.query(`
        CREATE FUNCTION ${schema}.refuse() RETURNS trigger LANGUAGE plpgsql AS
          $$ BEGIN RAISE EXCEPTION 'Nothing is deleted here'; END $$;
        CREATE TRIGGER refuse BEFORE DELETE ON ${schema}.buckets EXECUTE FUNCTION ${schema}.refuse()`);
      const waits = await Promise.all(Array.from({ length: 1_020 }, (_, n) => store.take!(`b${n}`, quick)));
      expect(new Set(waits)).toEqual(new Set([0]));
    } finally {
      await store.close();
      await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
      await pool.end();
    }
  });
});

describe.skipIf(!server)('Pruning many tasks a few at a time', () => {
  it('reads each of them about once, also while the database cannot forget the deleted ones', async () => {
    const schema = 'pruned';
    const pool = new pg.Pool({ connectionString: server!.url, max: 2 });
    const store = postgresStore(pool, { schema });
    const reader = new pg.Client({ connectionString: server!.url });
    const counts = async () => {
      await pool.query('SELECT pg_stat_force_next_flush()');
      const { rows } = await pool.query(
        `SELECT sum(idx_tup_read)::int AS read FROM pg_stat_user_indexes
         WHERE schemaname = $1 AND indexrelname = 'tasks_ended'`,
        [schema],
      );
      return rows[0].read as number;
    };
    try {
      const timeOf = (n: number) => new Date(Date.UTC(2026, 0, 1) + n).toISOString();
      const commits = Array.from({ length: 1_000 }, (_, n) =>
        chunkAfter(0, { taskId: `task ${n}`, head: headAt(1, { statusAt: timeOf(n), closed: true }) }),
      );
      await Promise.all(commits.map((commit) => store.commit(commit)));
      await pool.query(`ANALYZE ${schema}.tasks`);
      await reader.connect();
      await reader.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
      await reader.query('SELECT 1');
      const before = await counts();
      for (let n = 0; n < 20; n++)
        expect(await store.prune({ closedBefore: timeOf(2_000), limit: 50 })).toBe(50);
      expect((await counts()) - before).toBeLessThan(2_000);
      expect((await store.list('s', { limit: 1 })).total).toBe(0);
    } finally {
      await reader.end();
      await store.close();
      await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
      await pool.end();
    }
  });

  it('deletes long logs in several transactions, so that each of them ends in time', async () => {
    const schema = 'pruned_long';
    const pool = new pg.Pool({ connectionString: server!.url, max: 2 });
    const store = postgresStore(pool, { schema });
    try {
      for (const [taskId, length] of Object.entries({ a: 6_000, b: 6_000, c: 1 })) {
        const facts = Array.from({ length }, (_, n) => chunk(n + 1));
        await store.commit(chunkAfter(0, { taskId, facts, head: headAt(length, { closed: true }) }));
      }
      await pool.query(`CREATE TABLE ${schema}.deletions (transaction xid8);
        CREATE FUNCTION ${schema}.note() RETURNS trigger LANGUAGE plpgsql AS
          $$ BEGIN INSERT INTO ${schema}.deletions VALUES (pg_current_xact_id()); RETURN NULL; END $$;
        CREATE TRIGGER note AFTER DELETE ON ${schema}.tasks FOR EACH ROW EXECUTE FUNCTION ${schema}.note()`);
      expect(await store.prune({ closedBefore: '2026-02-01T00:00:00.000Z', limit: 50 })).toBe(3);
      const { rows } = await pool.query(
        `SELECT count(DISTINCT transaction)::int AS transactions FROM ${schema}.deletions`,
      );
      expect(rows).toEqual([{ transactions: 2 }]);
    } finally {
      await store.close();
      await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
      await pool.end();
    }
  });

  it('finds a log that ended before those that were deleted', async () => {
    const schema = 'pruned_late';
    const pool = new pg.Pool({ connectionString: server!.url, max: 2 });
    const store = postgresStore(pool, { schema });
    const close = (taskId: string, statusAt: string) =>
      store.commit(chunkAfter(0, { taskId, head: headAt(1, { statusAt, closed: true }) }));
    const prune = (limit: number) => store.prune({ closedBefore: '2026-02-01T00:00:00.000Z', limit });
    try {
      await close('second', '2026-01-02T00:00:00.000Z');
      expect(await prune(1)).toBe(1);
      await close('first', '2026-01-01T00:00:00.000Z');
      expect(await prune(1)).toBe(1);
      expect(await prune(1)).toBe(0);
    } finally {
      await store.close();
      await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
      await pool.end();
    }
  });
});

describe.skipIf(!server)('The number of waiting tasks', () => {
  const sending = (taskId: string) =>
    chunkAfter(0, { taskId, turn: { queue: 'q', want: true, waitingAtMost: 10_000 } });

  it('is read without a look at the tasks, by a send that waits too', async () => {
    const schema = 'waiting';
    const pool = new pg.Pool({ connectionString: server!.url, max: 1 });
    const store = postgresStore(pool, { schema });
    const read = async (): Promise<number> => {
      await pool.query('SELECT pg_stat_force_next_flush()');
      const { rows } = await pool.query(
        `SELECT sum(idx_tup_read)::int AS rows FROM pg_stat_user_indexes WHERE schemaname = $1
         AND indexrelname IN ('tasks_waiting', 'tasks_due', 'tasks_turns')`,
        [schema],
      );
      return rows[0].rows;
    };
    try {
      await Promise.all(Array.from({ length: 500 }, (_, n) => store.commit(sending(`task ${n}`))));
      const before = await read();
      for (let n = 0; n < 5; n++) await store.commit(sending(`next ${n}`));
      expect(await store.waiting('q', 10_000)).toBe(505);
      expect((await read()) - before).toBeLessThan(100);
    } finally {
      await store.close();
      await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
      await pool.end();
    }
  });
});
