import pg from 'pg';
import { describe, expect, it, vi } from 'vitest';
import { chunkAfter } from '../../../test/kit/task-logs.ts';
import { postgresForTests } from '../../../test/support/postgres.ts';
import { postgresStore } from '../src/index.ts';

const server = await postgresForTests();

describe.skipIf(!server)('Reads of logs that are asked for at once', () => {
  it('share a statement, and each finds its own facts', async () => {
    const schema = 'shared_reads';
    const pool = new pg.Pool({ connectionString: server!.url, max: 4 });
    // Notifications would take connections too.
    const store = postgresStore(pool, { schema, notify: false });
    try {
      const lengths = Array.from({ length: 40 }, (_, n) => n % 4);
      for (const version of [0, 1, 2])
        await Promise.all(
          lengths.map((length, n) =>
            version < length ? store.commit({ ...chunkAfter(version), taskId: `task ${n}` }) : undefined,
          ),
        );
      const connect = vi.spyOn(pool, 'connect');
      const found = await Promise.all(lengths.map((_, n) => store.readFacts('s', `task ${n}`, 1, 1)));
      const statements = connect.mock.calls.length;
      connect.mockRestore();
      // After the first fact, one at the most: logs of two and of three facts have it.
      expect(found.map((facts) => facts.map(({ version }) => version))).toEqual(
        lengths.map((length) => (length > 1 ? [2] : [])),
      );
      // Up to 32 in each.
      expect(statements).toBe(2);
    } finally {
      await store.close();
      await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
      await pool.end();
    }
  });

  it('fail with the error of their statement', async () => {
    const schema = 'failing_reads';
    const pool = new pg.Pool({ connectionString: server!.url, max: 4 });
    const store = postgresStore(pool, { schema });
    try {
      await store.commit({ ...chunkAfter(0), taskId: 'task' });
      await pool.query(`ALTER TABLE ${schema}.facts RENAME TO gone`);
      const failed = await Promise.allSettled([1, 2, 3].map(() => store.readFacts('s', 'task', 0, 1)));
      expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
      await pool.query(`ALTER TABLE ${schema}.gone RENAME TO facts`);
      expect(await store.readFacts('s', 'task', 0, 1)).toHaveLength(1);
    } finally {
      await store.close();
      await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
      await pool.end();
    }
  });
});
