import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { chunkAfter, persist } from '../../../test/kit/task-logs.ts';
import { postgresForTests } from '../../../test/support/postgres.ts';
import { type RemoteStores, startStoreProcess } from '../../../test/support/remote-stores.ts';
import { outliveLostConnections } from '../src/database/pool-database.ts';

const postgres = await postgresForTests();
const admin = new pg.Pool({ connectionString: postgres?.url, max: 2 });
admin.on('error', () => {});
const sql = async (text: string) => (await admin.query(text)).rows;
const schema = `terminated_${process.pid}`;
afterAll(async () => {
  await admin.end();
});

/** ReadyForQuery, with which the server says that a connection is open. */
const ready = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);

/** The process of the server in BackendKeyData, which comes right before. */
const backendOf = (bytes: Buffer): number => bytes.readInt32BE(bytes.length - ready.length - 8);

interface Proxy {
  readonly url: string;
  /** How many of the next connections the server terminates in the moment in which they are open. */
  terminate(count: number): void;
  readonly terminated: number;
  close(): Promise<unknown>;
}

/**
 * Passes bytes on to the server. The end of a terminated connection reaches its client in one packet with its beginning,
 * as it does by chance where a network or a busy process joins them.
 */
async function startProxy(): Promise<Proxy> {
  const { hostname, port } = new URL(postgres!.url);
  let left = 0;
  let terminated = 0;
  const open = new Set<Socket>();
  const proxy = createServer((client) => {
    const upstream = connect(Number(port || 5432), hostname);
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on('error', () => {}).on('close', () => open.delete(socket));
    }
    client.pipe(upstream);
    let held = Buffer.alloc(0);
    let isOpen = false;
    let isHeld = false;
    upstream.on('data', (bytes: Buffer) => {
      if (isOpen && !isHeld) return void client.write(bytes);
      held = Buffer.concat([held, bytes]);
      if (isHeld || !held.subarray(-ready.length).equals(ready)) return;
      isOpen = true;
      if (left === 0) return void client.write(held);
      left--;
      isHeld = true;
      void sql(`SELECT pg_terminate_backend(${backendOf(held)})`);
    });
    upstream.on('close', () => {
      if (isHeld) terminated++;
      if (isHeld) client.end(held);
      else client.end();
    });
    client.on('close', () => upstream.destroy());
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const url = new URL(postgres!.url);
  url.searchParams.set('application_name', schema);
  url.hostname = '127.0.0.1';
  url.port = String((proxy.address() as { port: number }).port);
  return {
    url: url.href,
    terminate: (count) => {
      left = count;
    },
    get terminated() {
      return terminated;
    },
    close() {
      for (const socket of open) socket.destroy();
      return once(proxy.close(), 'close');
    },
  };
}

describe.skipIf(!postgres).for([
  ['on a URL', false],
  ['on a pool of its caller', true],
] as const)('A store %s', ([, isPool]) => {
  let proxy: Proxy;
  let other: RemoteStores;
  beforeAll(async () => {
    proxy = await startProxy();
    other = startStoreProcess();
  });
  afterAll(async () => {
    await other.kill();
    await proxy.close();
  });
  afterEach(() => sql(`DROP SCHEMA IF EXISTS ${schema} CASCADE`));

  it('outlives connections that are terminated in the moment in which they are open', async () => {
    const store = other.open(isPool ? 'postgresPool' : 'postgres', proxy.url, { schema, notify: false });
    proxy.terminate(3);
    for (let version = 0; version < 5; version++) await persist(store, chunkAfter(version));
    expect(proxy.terminated).toBe(3);
    expect(await store.readFacts('s', 't', 0, 10)).toHaveLength(5);
    await store.close();
  });

  it('outlives connections that are terminated while they are idle', async () => {
    const store = other.open(isPool ? 'postgresPool' : 'postgres', proxy.url, { schema });
    await store.subscribe({ scope: 's', taskId: 't' }, () => {});
    for (let version = 0; version < 3; version++) {
      await persist(store, chunkAfter(version));
      await sql(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '${schema}'`,
      );
      await expect.poll(() => store.readFacts('s', 't', 0, 10).catch(String)).toHaveLength(version + 1);
    }
    await store.close();
  });
});

it.skipIf(!postgres)(
  'A pool of its caller outlives the loss of connections that it opened before',
  async () => {
    const pool = new pg.Pool({ connectionString: postgres!.url, max: 1 });
    (await pool.connect()).release();
    outliveLostConnections(pool);
    const client = await pool.connect();
    client.emit('error', new Error('terminated'));
    client.release();
    await pool.end();
  },
);
