import { createHash, createHmac } from 'node:crypto';
import type { TaskStore } from '@batonjs/store';
import { topicNumber } from '@batonjs/store/adapter';
import pg from 'pg';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { chunkAfter, untilItWorks } from '../../../test/kit/task-logs.ts';
import { canStartPostgres, startPostgres } from '../../../test/support/postgres.ts';
import { startStoreProcess } from '../../../test/support/remote-stores.ts';
import { startTcpProxy } from '../../../test/support/tcp-proxy.ts';
import { poolDatabase } from '../src/database/pool-database.ts';
import { transactionsOf } from '../src/database/postgres-error.ts';
import { postgresStore } from '../src/index.ts';
import { isHeard, registration } from '../src/notifications/poll.ts';
import { wakeupsOf } from '../src/notifications/wakeups.ts';

const server = (await canStartPostgres()) ? await startPostgres(['-c', 'fsync=off']) : undefined;
const admin = new pg.Pool({ connectionString: server?.url, max: 1 });
const sql = async (text: string) => (await admin.query(text)).rows;
const channelOf = (schema: string) =>
  `baton_${createHash('sha256').update(schema).digest('hex').slice(0, 16)}`;
const topic = { scope: 's', taskId: 't' };

const cleanUps: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});
afterAll(async () => {
  await admin.end();
  await server?.stop();
});

function closedAfterTest(store: TaskStore): TaskStore {
  cleanUps.push(() => store.close());
  return store;
}

/** A store that listens, and a proxy that can cut it off. */
async function openBehindProxy() {
  const proxy = await startTcpProxy(server!.port);
  cleanUps.push(() => proxy.close());
  const url = server!.url.replace(`:${server!.port}/`, `:${proxy.port}/`);
  const store = closedAfterTest(postgresStore(url, { timeoutMs: 1_000 }));
  const notified = Promise.withResolvers<number | undefined>();
  await untilItWorks(() => store.subscribe(topic, notified.resolve));
  return { proxy, store, notified: notified.promise };
}

describe.skipIf(!server)('The connection that listens', () => {
  it('is made again when it fell silent, though no call is made', async () => {
    const { proxy, notified } = await openBehindProxy();
    proxy.freeze();
    // The first ones may be for the poll, before the silence was noticed.
    for (let n = 0; n < 3; n++) await proxy.nextClient();
    proxy.thaw();
    // The poll does not know the task: only a connection that listens again notifies of whatever was missed.
    expect(await notified).toBeUndefined();
  });

  it('does not keep the store from closing while it is silent', async () => {
    const { proxy, store } = await openBehindProxy();
    proxy.freeze();
    await store.close();
  });

  it('has the password of the pool', async () => {
    await sql(`CREATE ROLE guarded LOGIN SUPERUSER PASSWORD 'secret'`);
    const [file] = await sql('SHOW hba_file');
    const allowed = `('host all guarded 127.0.0.1/32 scram-sha-256'), ('host all all 127.0.0.1/32 trust')`;
    await sql(`COPY (VALUES ${allowed}) TO '${file!.hba_file}'`);
    await sql('SELECT pg_reload_conf()');
    const at = { host: '127.0.0.1', port: server!.port, user: 'guarded', database: 'postgres' };
    const isRefused = async () => {
      const client = new pg.Client(at);
      client.on('error', () => {});
      return client.connect().then(
        () => client.end(),
        () => true,
      );
    };
    await expect.poll(isRefused).toBe(true);
    const pool = new pg.Pool({ ...at, password: 'secret', max: 2 });
    cleanUps.push(() => pool.end());
    const store = closedAfterTest(postgresStore(pool, { timeoutMs: 60_000 }));
    await store.subscribe(topic, () => {});
    const listening = `SELECT usename FROM pg_stat_activity WHERE query LIKE 'LISTEN %'`;
    expect(await sql(listening)).toContainEqual({ usename: 'guarded' });
  });

  it('ignores messages that no store has sent', async () => {
    const schema = 'messages';
    const [store, writer] = [1, 2].map(() => closedAfterTest(postgresStore(server!.url, { schema })));
    const versions: (number | undefined)[] = [];
    await store!.subscribe(topic, (version) => versions.push(version));
    const channel = channelOf(schema);
    const heard: string[] = [];
    const client = await admin.connect();
    client.on('notification', ({ payload = '' }) => void heard.push(payload));
    await client.query(`LISTEN ${channel}`);
    const body = `["forged",1,${topicNumber(topic)},null]`;
    const forged = createHmac('sha256', 'guessed').update(body).digest('base64url');
    for (const message of ['', 'null', '[', '{}', '["a"]', '["a","b",1]', body, `${forged} ${body}`])
      await client.query(`NOTIFY ${channel}, '${message}'`);
    await writer!.commit(chunkAfter(0));
    await expect.poll(() => new Set(versions)).toEqual(new Set([1]));
    // A role without rights hears it too, and may send it again.
    const said = await vi.waitFor(
      () => heard.find((one) => one.length > 60 && !one.includes('forged')) ?? expect.fail(),
    );
    for (let n = 0; n < 20; n++) await client.query(`NOTIFY ${channel}, '${said}'`);
    await writer!.commit(chunkAfter(1));
    await expect.poll(() => new Set(versions)).toEqual(new Set([1, 2]));
    // One of each by the message, and perhaps one by the poll.
    expect(versions.length).toBeLessThan(5);
    await client.query('UNLISTEN *');
    client.release();
  });
});

describe.skipIf(!server)('A process', () => {
  const open = (schema: string) => closedAfterTest(postgresStore(server!.url, { schema }));

  it('notifies others only where one listens, and then at once', async () => {
    const schema = 'alone';
    const [alone, other] = [open(schema), startStoreProcess()];
    cleanUps.push(() => other.kill());
    const client = await admin.connect();
    cleanUps.push(async () => client.release(true));
    const messages: unknown[] = [];
    client.on('notification', ({ payload }) => void messages.push(payload));
    await client.query(`LISTEN ${channelOf(schema)}`);
    const seen: (number | undefined)[] = [];
    await alone.subscribe(topic, (version) => void seen.push(version));
    await alone.commit(chunkAfter(0));
    await alone.commit(chunkAfter(1));
    await client.query('SELECT 1');
    expect(messages).toEqual([]);
    const heard = Promise.withResolvers<number | undefined>();
    const follower = other.open('postgres', server!.url, { schema });
    await follower.subscribe(topic, (version) => version === 3 && heard.resolve(version));
    await alone.commit(chunkAfter(2));
    expect(await heard.promise).toBe(3);
    await expect.poll(() => messages).toHaveLength(1);
    await follower.commit(chunkAfter(3));
    await expect.poll(() => seen).toContain(4);
  });

  it('finds what was written by another one that could not know that it listens', async () => {
    const [store, writer] = [open('unknown'), open('unknown')];
    await writer.commit(chunkAfter(0));
    const seen: unknown[] = [];
    await store.subscribe(topic, (version) => void seen.push(version));
    await sql('UPDATE unknown.tasks SET version = 2');
    await expect.poll(() => seen).toContain(2);
  });

  /** A schema with a log, and what a subscriber of the log is told. */
  async function subscribed(schema: string, notify: boolean) {
    await open(schema).commit(chunkAfter(0));
    const database = poolDatabase(admin, { name: '', timeoutMs: 5_000, owned: false, keepsPlans: false });
    const transactions = transactionsOf(database, async () => {});
    const wakeups = wakeupsOf({
      ...{ database, transactions, schema, quoted: `"${schema}"`, notify, renewEveryMs: 20 },
      secret: async () => 'secret',
    });
    cleanUps.push(() => wakeups.close());
    const seen: unknown[] = [];
    await wakeups.subscribe(topic, (version) => void seen.push(version));
    return { wakeups, seen };
  }

  it('looks without notifications, although others subscribe all the time', async () => {
    const { wakeups, seen } = await subscribed('busy', false);
    const end = performance.now() + 10_000;
    while (seen.length === 0 && performance.now() < end) {
      const leave = await wakeups.subscribe({ scope: 's', taskId: 'other' }, () => {});
      await new Promise((resolve) => setImmediate(resolve));
      leave();
    }
    expect(seen).toEqual([1]);
  });

  it('tells its subscribers to look, and looks, where others took it for gone', async () => {
    const { seen } = await subscribed('gone', true);
    const until = async () => Number((await sql('SELECT max(until) AS until FROM gone.listeners'))[0]?.until);
    const first = await until();
    await expect.poll(until).toBeGreaterThan(first + 100);
    await sql('UPDATE gone.tasks SET version = 9');
    const lapsed = async () => {
      await sql('DELETE FROM gone.listeners');
      return seen;
    };
    await expect.poll(lapsed).toEqual(expect.arrayContaining([undefined, 9]));
  });

  it('says in the database that it listens, again and again, until it closes', async () => {
    const schema = '"said"';
    await open('said').identity();
    const database = poolDatabase(admin, { name: '', timeoutMs: 5_000, owned: false, keepsPlans: false });
    const called: string[] = [];
    const registered = registration({
      ...{ schema, id: 'me', renewEveryMs: 5 },
      transactions: transactionsOf(database, async () => {}),
      onKnown: () => void called.push('known'),
      onLapsed: () => void called.push('lapsed'),
    });
    await sql(`INSERT INTO "said".listeners VALUES ('dead', 5), ('alive', 1e15)`);
    const isHeardBy = async (id: string) => (await sql(`SELECT ${isHeard(schema, id)} AS heard`))[0]?.heard;
    expect(await isHeardBy('alive')).toBe(false);
    const ids = async () => (await sql('SELECT id FROM "said".listeners ORDER BY id')).map(({ id }) => id);
    expect(await registered.begin()).toBe(false);
    expect(await ids()).toEqual(['alive', 'me']);
    await sql(`DELETE FROM "said".listeners WHERE id = 'alive'`);
    expect(await Promise.all(['me', 'other'].map(isHeardBy))).toEqual([false, true]);
    await expect.poll(() => called).toContain('known');
    expect(called).not.toContain('lapsed');
    // As if the process had been stopped for longer than it holds.
    await sql('UPDATE "said".listeners SET until = 5');
    await expect.poll(() => called).toContain('lapsed');
    expect(await registered.begin()).toBe(true);
    await registered.end();
    expect(await ids()).toEqual([]);
  });
});
