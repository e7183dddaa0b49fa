import type { Lease } from '@batonjs/store';
import { createStore } from '@batonjs/store/adapter';
import pg from 'pg';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { chunk, chunkAfter, headAt } from '../../../test/kit/task-logs.ts';
import { postgresForTests } from '../../../test/support/postgres.ts';
import { poolDatabase } from '../src/database/pool-database.ts';
import { postgresStore } from '../src/index.ts';
import { postgresRows } from '../src/postgres-store.ts';

type Store = ReturnType<typeof postgresStore>;

const server = await postgresForTests();
const schema = `serialization ${process.pid}`;
const admin = new pg.Pool({ connectionString: server?.url, max: 2 });
const sql = async (text: string) => (await admin.query(text)).rows;
afterEach(() => (server ? sql(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`) : undefined));
afterAll(async () => {
  await admin.end();
});

describe.skipIf(!server)('A transaction that the database cannot serialize (serialization_failure)', () => {
  it('is run again: a renewal that lost against another write of the row', async () => {
    // Statements outside of transactions have the isolation that the database is configured with.
    const isolation = '-c default_transaction_isolation=serializable';
    const store = postgresStore(`${server!.url}?options=${encodeURIComponent(isolation)}`, { schema });
    const other = await admin.connect();
    try {
      const acquire = { holder: 'h', ttlMs: 60_000 };
      const { lease } = await store.commit(chunkAfter(0, { turn: { queue: 'q', acquire } }));
      await other.query('BEGIN');
      await other.query(`UPDATE "${schema}".tasks SET revision = revision + 1`);
      const renewed = store.renew([lease as Lease], 60_000);
      const waiting = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'`;
      await expect.poll(async () => (await sql(waiting)).length).toBe(1);
      await other.query('COMMIT');
      expect(await renewed).toEqual([lease]);
    } finally {
      other.release();
      await store.close();
    }
  });

  /** Lets the first so many commits fail as a database does that cannot serialize them. */
  async function failFirst(commits: number): Promise<void> {
    await sql(`CREATE SEQUENCE "${schema}".attempts`);
    await sql(`CREATE FUNCTION "${schema}".unlucky() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF nextval('"${schema}".attempts') <= ${commits} THEN
        RAISE EXCEPTION 'could not serialize access' USING ERRCODE = 'serialization_failure';
      END IF;
      RETURN NEW;
    END $$`);
    await sql(`CREATE CONSTRAINT TRIGGER unlucky AFTER INSERT ON "${schema}".facts DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION "${schema}".unlucky()`);
  }

  it('is run again where COMMIT itself fails, and its facts are written once', async () => {
    const store = postgresStore(server!.url, { schema });
    try {
      await store.commit(chunkAfter(0));
      await failFirst(5);
      expect(await store.commit(chunkAfter(1))).toMatchObject({ version: 2 });
      const facts = await store.readFacts('s', 't', 0, 9);
      expect(facts.map(({ commitId }) => commitId)).toEqual(['commit 1', 'commit 2']);
    } finally {
      await store.close();
    }
  });

  it('rejects with UNAVAILABLE where it goes on failing, and has written nothing', async () => {
    const store = postgresStore(server!.url, { schema });
    try {
      await store.commit(chunkAfter(0));
      await failFirst(1_000_000);
      await expect(store.commit(chunkAfter(1))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
      expect((await store.load('s', 't'))?.version).toBe(1);
    } finally {
      await store.close();
    }
  });
});

describe.skipIf(!server)('Commits that arrive together', () => {
  async function withSizes(use: (store: Store, sizes: number[]) => Promise<void>): Promise<void> {
    const sizes: number[] = [];
    const store = postgresStore(server!.url, { schema, onGroup: (size) => sizes.push(size) });
    try {
      await store.identity();
      await use(store, sizes);
    } finally {
      await store.close();
    }
  }

  it('share transactions, and one that the database does not take fails alone', () =>
    withSizes(async (store, sizes) => {
      const tasks = Array.from({ length: 40 }, (_, n) => chunkAfter(0, { taskId: `t${n}` }));
      const wrong = chunkAfter(0, { taskId: 'wrong', commitId: 'a\0b' });
      const outcomes = await Promise.allSettled([...tasks, wrong].map((commit) => store.commit(commit)));
      expect(outcomes.map(({ status }) => status)).toEqual([...tasks.map(() => 'fulfilled'), 'rejected']);
      sizes.length = 0;
      await Promise.all(tasks.map(({ taskId }) => store.commit(chunkAfter(1, { taskId }))));
      expect(Math.max(...sizes)).toBeGreaterThan(10);
    }));

  it('share none that would be too long for one statement', () =>
    withSizes(async (store, sizes) => {
      const text = 'x'.repeat(3 * 1024 * 1024);
      const long = { ...chunk(1), artifact: { artifactId: 'a', parts: [{ text }] } };
      const commits = [long, long, chunk(1), chunk(1)].map((fact, n) =>
        chunkAfter(0, { taskId: `t${n}`, facts: [fact] }),
      );
      await Promise.all(commits.map((commit) => store.commit(commit)));
      expect(sizes).toEqual([3, 1]);
    }));

  it('that are longer than a group may be are written alone', () =>
    withSizes(async (store, sizes) => {
      const long = {
        ...chunk(1),
        artifact: { artifactId: 'a', parts: [{ text: 'x'.repeat(5 * 1024 * 1024) }] },
      };
      const commits = [chunkAfter(0, { taskId: 'long', facts: [long] }), chunkAfter(0)];
      await Promise.all(commits.map((commit) => store.commit(commit)));
      expect(sizes).toEqual([1, 1]);
    }));

  it('count what those before them in their transaction put into a queue that is bounded', () =>
    withSizes(async (store, sizes) => {
      const turn = { queue: 'q', want: true, waitingAtMost: 2 };
      const commits = Array.from({ length: 4 }, (_, n) => chunkAfter(0, { taskId: `t${n}`, turn }));
      const outcomes = await Promise.allSettled(commits.map((commit) => store.commit(commit)));
      expect(outcomes.map(({ status }) => status)).toEqual([
        'fulfilled',
        'fulfilled',
        'rejected',
        'rejected',
      ]);
      expect(outcomes[2]).toMatchObject({ reason: { code: 'QUEUE_FULL' } });
      expect(sizes).toEqual([2]);
    }));

  it('count no task twice that waits in a bounded queue already, as another process left it', () =>
    withSizes(async (store, sizes) => {
      const turn = { queue: 'q', want: true, waitingAtMost: 2 };
      const other = postgresStore(server!.url, { schema });
      await other.commit(chunkAfter(0, { taskId: 'waits', turn }));
      await other.commit(chunkAfter(0, { taskId: 'idle' }));
      await other.close();
      const first = store.commit(chunkAfter(0));
      const both = ['waits', 'idle'].map((taskId) => store.commit(chunkAfter(1, { taskId, turn })));
      await Promise.all([first, ...both]);
      expect(Math.max(...sizes)).toBe(2);
    }));

  it('share none whose snapshots would be too long for one statement', () =>
    withSizes(async (store, sizes) => {
      const state = { text: 'x'.repeat(3 * 1024 * 1024) };
      const snapshot = { format: 1, version: 1, state } as never;
      const commits = [1, 2].map((n) => chunkAfter(0, { taskId: `t${n}`, snapshot }));
      await Promise.all([...commits, chunkAfter(0)].map((commit) => store.commit(commit)));
      expect(sizes).toEqual([2, 1]);
    }));

  it('see what the changes before them in their transaction did to a webhook', () =>
    withSizes(async (store) => {
      const config = { id: 'w', taskId: 't', url: 'https://example.com/' };
      const name = { scope: 's', taskId: 't', id: 'w' };
      await store.commit(chunkAfter(0));
      await store.putPushConfig({ ...name, config, protocolVersion: '1.0', queue: 'q', cursor: 0 });
      const removed = Promise.all([1, 2].map(() => store.removePushConfig('s', 't', 'w')));
      expect(await removed).toEqual([true, false]);
    }));
});

it.skipIf(!server)(
  'A task that one transaction deletes is written again by the next one, at the first attempt',
  async () => {
    const options = { name: 'PostgreSQL', timeoutMs: 20_000, owned: false, keepsPlans: true };
    const rows = postgresRows(poolDatabase(admin, options), {
      ...{ schema, notify: false, textSearch: false, onGroup: undefined },
    });
    const store = createStore('PostgreSQL', rows);
    try {
      await store.commit(chunkAfter(0, { head: headAt(1, { closed: true }) }));
      await sql(`CREATE SEQUENCE "${schema}".attempts`);
      await sql(`CREATE FUNCTION "${schema}".counted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      PERFORM nextval('"${schema}".attempts');
      RETURN NEW;
    END $$`);
      await sql(`CREATE TRIGGER counted BEFORE INSERT ON "${schema}".facts
      FOR EACH ROW EXECUTE FUNCTION "${schema}".counted()`);
      const deleting = rows.change({
        wanted: { tasks: [{ scope: 's', taskId: 't' }] },
        decide: ({ tasks }) => ({
          result: 'deleted',
          tasks: [{ before: tasks?.[0]?.row, after: undefined }],
        }),
      });
      const changes = await Promise.all([deleting, store.commit(chunkAfter(0))]);
      expect(changes).toMatchObject(['deleted', { version: 1 }]);
      expect(await sql(`SELECT last_value FROM "${schema}".attempts`)).toEqual([{ last_value: '1' }]);
    } finally {
      await store.close();
    }
  },
);

it.skipIf(!server)('A log that is deleted while it is read is gone, and not cut off', async () => {
  const database = poolDatabase(admin, {
    ...{ name: 'PostgreSQL', timeoutMs: 20_000, owned: false, keepsPlans: true },
  });
  const options = { schema, notify: false, textSearch: false, onGroup: undefined };
  const other = createStore('PostgreSQL', postgresRows(database, options));
  await other.commit(chunkAfter(0, { head: headAt(1, { closed: true }) }));
  const query: typeof database.query = async (text, values) => {
    const rows = await database.query(text, values);
    if (text.includes('.snapshots')) await other.erase!('s', 't');
    return rows;
  };
  const store = createStore('PostgreSQL', postgresRows({ ...database, query }, options));
  expect(await store.load('s', 't')).toBeUndefined();
});
