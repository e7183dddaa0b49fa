/**
 * The floor under workers: a process that sends a notification through a store, and one that answers with another. Each
 * store by the means that Baton uses, with nothing around them.
 */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { createClient } from 'redis';
import { Cluster } from '../../../packages/store-etcd/src/cluster/cluster.ts';
import { connectionsTo } from '../../../packages/store-etcd/src/cluster/connections.ts';
import { watchesOf } from '../../../packages/store-etcd/src/notifications/watches.ts';
import { answer, given } from '../../harness/worker.ts';
import type { StoreChoice } from '../stores.ts';

type Role = 'ping' | 'pong';

/** Sends a notification to the process of the other role. */
type Send = () => Promise<unknown> | undefined;

/** How often SQLite is read for changes, as Baton does, in milliseconds: more often by the one that waits for an answer. */
const sweepMs = { ping: 10, pong: 25 };

const { role, ...choice } = given<StoreChoice & { role: Role }>();
const other = role === 'ping' ? 'pong' : 'ping';

async function connect(onNotified: () => void): Promise<Send> {
  if (choice.store === 'redis') {
    const client = createClient({ url: choice.redis });
    const subscribed = client.duplicate();
    await Promise.all([client.connect(), subscribed.connect()]);
    await subscribed.subscribe(role, onNotified);
    return () => client.publish(other, '');
  }
  if (choice.store === 'postgres') {
    const [client, listening] = [new pg.Client(choice.postgres), new pg.Client(choice.postgres)];
    await Promise.all([client.connect(), listening.connect()]);
    listening.on('notification', onNotified);
    await listening.query(`LISTEN ${role}`);
    return () => client.query('SELECT pg_notify($1, $2)', [other, '']);
  }
  if (choice.store === 'etcd') {
    const connections = connectionsTo(choice.etcd, undefined);
    const cluster = new Cluster(connections, 10_000);
    const watches = watchesOf(connections, 10_000);
    await watches.begin({ key: role, onEvent: onNotified, onMissed: () => {} }).created;
    return () => cluster.transact({ compare: [], success: [{ put: { key: other, value: '' } }] });
  }
  if (choice.store === 'sqlite') return connectSqlite(join(choice.folder, 'notify.db'), onNotified);
  throw new Error('A store of one process notifies no other');
}

function connectSqlite(path: string, onNotified: () => void): Send {
  const db = new DatabaseSync(path);
  db.exec('PRAGMA busy_timeout = 4000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
  db.exec('CREATE TABLE IF NOT EXISTS changes (sequence INTEGER PRIMARY KEY, role TEXT NOT NULL)');
  const insert = db.prepare('INSERT INTO changes (role) VALUES (?)');
  const since = db.prepare('SELECT sequence FROM changes WHERE sequence > ? AND role = ?');
  const version = db.prepare('PRAGMA data_version');
  let seenVersion: unknown;
  let seen = 0;
  setInterval(() => {
    const dataVersion = version.get()?.data_version;
    if (dataVersion === seenVersion) return;
    seenVersion = dataVersion;
    for (const { sequence } of since.all(seen, role)) {
      seen = Number(sequence);
      onNotified();
    }
  }, sweepMs[role]);
  return () => void insert.run(other);
}

let notified = (): void => {};
const send = await connect(() => notified());
if (role === 'pong') notified = () => void send();

const questions = {
  /** So many round trips, one after another, with pauses between them. Resolves to the milliseconds of each. */
  async roundTrips({ count, pauseMs }: { count: number; pauseMs: number }): Promise<number[]> {
    const times: number[] = [];
    for (let n = 0; n < count; n++) {
      await new Promise((resolve) => setTimeout(resolve, Math.random() * pauseMs));
      const start = performance.now();
      await new Promise<void>((resolve) => {
        notified = resolve;
        void send();
      });
      times.push(performance.now() - start);
    }
    return times;
  },
};
export type BareNotify = typeof questions;
answer(questions);
