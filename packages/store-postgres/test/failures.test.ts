import { once } from 'node:events';
import { connect, createServer, type Server } from 'node:net';
import type { TaskStore } from '@batonjs/store';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { pauseProcess } from '../../../test/kit/processes.ts';
import { repetitions } from '../../../test/kit/repetitions.ts';
import { chunkAfter, persist, untilItWorks } from '../../../test/kit/task-logs.ts';
import { canStartPostgres, type PostgresServer, startPostgres } from '../../../test/support/postgres.ts';
import { poolDatabase } from '../src/database/pool-database.ts';
import { type PostgresStoreOptions, postgresStore } from '../src/index.ts';

const server: PostgresServer | undefined = (await canStartPostgres()) ? await startPostgres() : undefined;
const admin = new pg.Pool({ connectionString: server?.url, max: 2 });
admin.on('error', () => {});
const sql = async (text: string) => (await admin.query(text)).rows;

const cleanUps: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
  if (server) await sql('DROP SCHEMA IF EXISTS baton CASCADE');
});
afterAll(async () => {
  await admin.end();
  await server?.stop();
});

function open(options: PostgresStoreOptions = {}, url = server!.url): TaskStore {
  const store = postgresStore(url, { connections: 3, ...options });
  cleanUps.push(() => store.close());
  return store;
}

const commitIds = async (store: TaskStore) =>
  (await store.readFacts('s', 't', 0, 1_000)).map(({ commitId }) => commitId);
const inOrder = (count: number) => Array.from({ length: count }, (_, n) => `commit ${n + 1}`);

describe.skipIf(!server)('When connections are terminated', () => {
  it('every fact is written once and in order, and subscribers are still notified', async () => {
    const [store, second] = [open(), open()];
    await store.commit(chunkAfter(0));
    let longest = 0;
    await second.subscribe({ scope: 's', taskId: 't' }, async () => {
      longest = Math.max(longest, (await commitIds(second).catch(() => [])).length);
    });
    for (let version = 1; version < 60; version++) {
      const written = persist(store, chunkAfter(version));
      if (version % 20 === 10) {
        await sql(
          'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()',
        ).catch(() => {});
      }
      await written;
    }
    expect(await commitIds(second)).toEqual(inOrder(60));
    await expect.poll(() => longest).toBe(60);
  });
});

describe.skipIf(!server)('When PostgreSQL is killed and started again', () => {
  it('nothing that was acknowledged is lost, and nothing is twice', async () => {
    const store = open();
    let restarting: Promise<void> | undefined;
    for (let version = 0; version < 60; version++) {
      const written = persist(store, chunkAfter(version));
      if (version === 30) restarting = server!.restart();
      await Promise.all([written, restarting]);
    }
    expect(await commitIds(open())).toEqual(inOrder(60));
  });

  it('a claim is lost that was not on its disk, and its holder writes nothing after another one claimed', async () => {
    // Nothing else brings to the disk what no commit waits for.
    const own = await startPostgres(['-c', 'wal_writer_delay=10s']);
    cleanUps.push(() => own.stop());
    const [store, second] = [open({}, own.url), open({}, own.url)];
    await store.commit(chunkAfter(0, { turn: { queue: 'q', want: true } }));
    const claim = async (by: TaskStore, holder: string) =>
      (await untilItWorks(() => by.claim({ queue: 'q', holder, ttlMs: 60_000, limit: 1 })))[0];
    const lost = await claim(store, 'first');
    await own.restart();
    // The first claim would hold for a minute, and the second would have a larger fence.
    expect(await claim(second, 'second')).toMatchObject({ cause: 'wanted', fence: lost?.fence });
    await expect(persist(store, chunkAfter(1, { writer: lost }))).rejects.toMatchObject({ code: 'FENCED' });
  });
});

/** Passes bytes on to the server; loses the answer to the first write after `armed`, which the server has executed. */
async function losesAnswerToWrite(): Promise<{ server: Server; url: string; arm: () => void }> {
  let armed = false;
  const proxy = createServer((client) => {
    const upstream = connect(server!.port, '127.0.0.1');
    let isLost = false;
    let isInTransaction = false;
    client.on('data', (bytes) => {
      if (bytes.includes('BEGIN ')) isInTransaction = true;
      const isWrite = bytes.includes('COMMIT\0') || (bytes.includes('"commit ') && !isInTransaction);
      if (armed && isWrite) {
        armed = false;
        isLost = true;
      }
      if (bytes.includes('COMMIT\0')) isInTransaction = false;
      upstream.write(bytes);
    });
    upstream.on('data', (bytes) => {
      if (isLost) client.destroy();
      else client.write(bytes);
    });
    for (const socket of [client, upstream]) socket.on('error', () => {});
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const { port } = proxy.address() as { port: number };
  return {
    server: proxy,
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    arm: () => {
      armed = true;
    },
  };
}

describe.skipIf(!server)('A commit whose outcome is unknown', () => {
  it('rejects with UNAVAILABLE, and the log shows by its commitId that it happened', async () => {
    const proxy = await losesAnswerToWrite();
    cleanUps.push(() => proxy.server.close());
    const store = open({}, proxy.url);
    await store.commit(chunkAfter(0));
    proxy.arm();
    await expect(store.commit(chunkAfter(1))).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringContaining('whether it did is unknown'),
    });
    expect(await commitIds(store)).toEqual(inOrder(2));
    await expect(store.commit(chunkAfter(1))).rejects.toMatchObject({ code: 'VERSION_CONFLICT' });
  });

  it('is settled by its commitId, whenever the connection is cut: each is there once', async () => {
    const proxy = await losesAnswerToWrite();
    cleanUps.push(() => proxy.server.close());
    const store = open({}, proxy.url);
    const count = repetitions(20, 500);
    for (let version = 0; version < count; version++) {
      proxy.arm();
      await persist(store, chunkAfter(version));
    }
    expect(await commitIds(store)).toEqual(inOrder(count));
  });
});

describe.skipIf(!server)('A database that cannot write', () => {
  it('is read-only: calls say so, and reads go on', async () => {
    const store = open();
    await store.commit(chunkAfter(0));
    const readOnly = open({}, `${server!.url}?options=-c%20default_transaction_read_only%3Don`);
    const refusal = { code: 'UNAVAILABLE', trouble: 'read-only' };
    await expect(readOnly.commit(chunkAfter(1))).rejects.toMatchObject(refusal);
    await expect(readOnly.probe!()).rejects.toMatchObject(refusal);
    expect(await commitIds(readOnly)).toEqual(inOrder(1));
    expect(await store.commit(chunkAfter(1))).toMatchObject({ version: 2 });
  });

  it('is read-only where its name led to before a failover: the next call opens another connection', async () => {
    await open().commit(chunkAfter(0));
    // A session keeps this setting, as a connection to a primary that was replaced stays one to that server.
    await sql('CREATE ROLE moving LOGIN SUPERUSER');
    cleanUps.push(() => sql('DROP ROLE moving'));
    await sql('ALTER ROLE moving SET default_transaction_read_only = on');
    const store = open({}, server!.url.replace('postgres@', 'moving@'));
    const refusal = { code: 'UNAVAILABLE', trouble: 'read-only' };
    // Several connections, none of which may be used again.
    await Promise.all(Array.from({ length: 8 }, () => store.load('s', 't')));
    await expect(store.commit(chunkAfter(1))).rejects.toMatchObject(refusal);
    await sql('ALTER ROLE moving RESET default_transaction_read_only');
    await Promise.all(Array.from({ length: 8 }, () => store.load('s', 't')));
    expect(await store.commit(chunkAfter(1))).toMatchObject({ version: 2 });
  });

  it('has a full disk: calls say so, nothing is stored, and writes go on afterwards', async () => {
    const store = open();
    await store.commit(chunkAfter(0));
    await sql(`CREATE FUNCTION baton.full() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$`);
    for (const table of ['facts', 'probes'])
      await sql(`CREATE TRIGGER full_disk BEFORE INSERT ON baton.${table} EXECUTE FUNCTION baton.full()`);
    const refusal = { code: 'UNAVAILABLE', trouble: 'disk-full' };
    await expect(store.commit(chunkAfter(1))).rejects.toMatchObject(refusal);
    await expect(store.probe!()).rejects.toMatchObject(refusal);
    expect(await commitIds(store)).toEqual(inOrder(1));
    await sql('DROP FUNCTION baton.full() CASCADE');
    await store.probe!();
    expect(await store.commit(chunkAfter(1))).toMatchObject({ version: 2 });
  });

  it('does not answer: calls reject within their bound, and work once it goes on', async () => {
    const store = open({ timeoutMs: 1_000 });
    await persist(store, chunkAfter(0));
    const backends = await sql(
      `SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`,
    );
    const stopped = [server!.pid, ...backends.map(({ pid }) => Number(pid))];
    await Promise.all(stopped.map(pauseProcess));
    try {
      await expect(store.commit(chunkAfter(1))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    } finally {
      for (const pid of stopped) process.kill(pid, 'SIGCONT');
    }
    await persist(store, chunkAfter(1));
    expect(await commitIds(store)).toEqual(inOrder(2));
  });
});

describe.skipIf(!server)('A row that another process holds', () => {
  it('makes a commit wait for a bounded time, and other claims pass by', async () => {
    const store = open({ timeoutMs: 1_000 });
    for (const taskId of ['t', 'u'])
      await persist(store, chunkAfter(0, { taskId, turn: { queue: 'q', want: true } }));
    const holder = await admin.connect();
    await holder.query(`BEGIN; SELECT 1 FROM baton.tasks WHERE task_id = 't' FOR UPDATE`);
    try {
      // A claim whose answer came too late for a busy machine may have happened: its lease runs out at once.
      const claim = () => store.claim({ queue: 'q', holder: 'h', ttlMs: 1, limit: 9 });
      await expect.poll(async () => (await untilItWorks(claim)).map(({ taskId }) => taskId)).toEqual(['u']);
      // The same of the database's refusal: where it came too late, the call was refused without a reason.
      const refusal = { code: 'UNAVAILABLE', trouble: 'locked' };
      const commit = async () => store.commit(chunkAfter(1));
      await expect.poll(() => commit().catch((error: unknown) => error)).toMatchObject(refusal);
    } finally {
      await holder.query('ROLLBACK');
      holder.release();
    }
    await persist(store, chunkAfter(1));
    expect(await commitIds(store)).toEqual(inOrder(2));
  });

  it('is written as soon as that process has stood still in its transaction for too long', async () => {
    const timeoutMs = 4_000;
    const store = open({ timeoutMs });
    await store.commit(chunkAfter(0));
    const stopped = poolDatabase(admin, { name: '', timeoutMs, owned: false, keepsPlans: false });
    let written: unknown;
    const transaction = stopped.transact(async ({ query }) => {
      await query('SELECT FROM baton.tasks FOR UPDATE');
      written = await store.commit(chunkAfter(1));
    });
    await expect(transaction).rejects.toThrow();
    expect(written).toMatchObject({ version: 2 });
  });

  it('is written again after a deadlock that the other process won', async () => {
    const store = open();
    for (const taskId of ['t', 'u']) await store.commit(chunkAfter(0, { taskId }));
    const rows = await sql('SELECT task_id FROM baton.tasks ORDER BY key');
    const [first, last] = rows.map(({ task_id }) => String(task_id));
    const holder = await admin.connect();
    const lock = (taskId: string) =>
      holder.query('SELECT 1 FROM baton.tasks WHERE task_id = $1 FOR UPDATE', [taskId]);
    // The other process looks for deadlocks later than the store's connection does, so that the store is aborted.
    await holder.query(`BEGIN; SET LOCAL deadlock_timeout = '8s'`);
    await lock(last!);
    const commits = [first!, last!].map((taskId) => store.commit(chunkAfter(1, { taskId })));
    const waiting = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'`;
    await expect.poll(async () => (await sql(waiting)).length).toBe(1);
    await lock(first!);
    await holder.query('COMMIT');
    holder.release();
    for (const { version } of await Promise.all(commits)) expect(version).toBe(2);
  });
});

describe.skipIf(!server)('A lease whose time is up and that its holder keeps', () => {
  it('does not keep a claim from the tasks that wait after it', async () => {
    const store = open();
    const acquire = { holder: 'kept', ttlMs: 60_000 };
    await store.commit(chunkAfter(0, { turn: { queue: 'q', acquire } }));
    await sql('UPDATE baton.tasks SET lease_until = 0');
    await store.commit(chunkAfter(0, { taskId: 'u', turn: { queue: 'q', want: true } }));
    const request = { queue: 'q', ttlMs: 60_000, limit: 1 };
    const isKept = (holder: string) => holder === 'kept';
    const claim = async (holder: string) => (await store.claim({ ...request, holder, isKept }))[0];
    expect(await claim('a')).toMatchObject({ taskId: 'u', cause: 'wanted' });
    expect(await claim('b')).toBeUndefined();
    expect(await store.claim({ ...request, holder: 'c' })).toMatchObject([{ taskId: 't', cause: 'expired' }]);
  });
});

describe.skipIf(!server)('A pool without a free connection', () => {
  it('rejects a call in time, and says what is wrong', async () => {
    const pool = new pg.Pool({ connectionString: server!.url, max: 1 });
    cleanUps.push(() => pool.end());
    // A transaction that stands still for two fifths of it is ended: a busy machine gets a second.
    const store = postgresStore(pool, { timeoutMs: 2_500 });
    await persist(store, chunkAfter(0));
    const client = await pool.connect();
    await expect(store.commit(chunkAfter(1))).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringContaining('has no free connection'),
    });
    client.release();
    // Also the connection that came too late.
    await expect.poll(() => pool.idleCount).toBe(1);
    await persist(store, chunkAfter(1));
    expect(await commitIds(store)).toEqual(inOrder(2));
    await store.close();
  });
});

describe.skipIf(!server)('A schema', () => {
  beforeAll(() => sql(`CREATE ROLE worker LOGIN`));
  const asWorker = () => server!.url.replace('postgres@', 'worker@');

  it('is created once by many that start at the same moment', async () => {
    const stores = Array.from({ length: 8 }, () => open());
    const ids = await Promise.all(stores.map((store) => store.identity()));
    expect(new Set(ids).size).toBe(1);
  });

  it('is used with the least privileges once it exists', async () => {
    await expect(open({}, asWorker()).identity()).rejects.toMatchObject({ code: 'UNUSABLE' });
    const identity = await open().identity();
    await sql(`GRANT USAGE ON SCHEMA baton TO worker;
      GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA baton TO worker`);
    const store = open({}, asWorker());
    expect(await store.identity()).toBe(identity);
    expect(await store.commit(chunkAfter(0))).toMatchObject({ version: 1 });
    await store.probe!();
  });

  it('of another release is refused, with what to do', async () => {
    await open().identity();
    await sql(`UPDATE baton.meta SET value = '1000' WHERE name = 'version'`);
    await expect(open().identity()).rejects.toMatchObject({
      code: 'UNUSABLE',
      message: expect.stringContaining('Use a new schema'),
    });
  });
});
