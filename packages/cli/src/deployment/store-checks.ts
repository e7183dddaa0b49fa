import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { differencesOf, versionsOf } from '@batonjs/operator';
import { recordName, scopeOf } from '@batonjs/server/internals';
import { sqliteStore } from '@batonjs/store-sqlite';
import { durationText } from '../flags/duration.ts';
import { clockSkew, type Finding, find } from './finding.ts';
import { callerOf, type OpenedStore, type ScopeFlags } from './open-store.ts';

/** What a check of a store needs to know besides the store. */
export interface StoreCheckOptions extends Pick<ScopeFlags, 'agent' | 'tenant' | 'caller'> {
  /** How long a task may be at work without a change, in milliseconds. */
  readonly stuckAfter: number;
}

/** Checks a store that a deployment uses. Changes nothing that a reader of tasks could see. */
export async function checkStore(opened: OpenedStore, options: StoreCheckOptions): Promise<Finding[]> {
  const { store } = opened;
  const scope = scopeOf(options.agent, options.tenant, { scope: callerOf(options) });
  return Promise.all([
    find('store is reachable', async () => {
      const before = performance.now();
      await store.ping();
      return { isOk: true, note: durationText(Math.ceil(performance.now() - before)) };
    }),
    find('store takes writes', async () => {
      if (!store.probe) return undefined;
      await store.probe();
      return { isOk: true, note: 'a probe was written' };
    }),
    find('clock of the store', () => clockOf(opened)),
    find('eviction policy', () => evictionOf(opened)),
    find('connections', () => connectionsOf(opened)),
    find('indexes', () => indexesOf(opened)),
    find('stuck tasks', async () => {
      const old = new Date(Date.now() - options.stuckAfter).toISOString();
      const { tasks } = await store.list(scope, { limit: 1_000, state: 'TASK_STATE_WORKING' });
      const stuck = tasks.filter(({ head }) => head.statusAt < old).map(({ taskId }) => taskId);
      return none(stuck, `${stuck.length} at work without a change: ${list(stuck)}`);
    }),
    find('tasks that wait for a process', () => waitingOf(opened, options)),
    find('turns of versions that no process runs', async () => {
      if (!store.pinned) return undefined;
      const found: string[] = [];
      for (const version of await versionsOf(store, options.agent)) {
        const tasks = await store.pinned(options.agent, version, 100);
        if (tasks.length > 0)
          found.push(`${tasks.length} of ${version}: ${list(tasks.map(({ taskId }) => taskId))}`);
      }
      return none(found, found.join('; '));
    }),
    find('options of servers and workers', async () => {
      const differences = await differencesOf(store, options.agent);
      return { isOk: differences === undefined, note: differences ?? 'the same in all' };
    }),
    find('recurring tasks that no process starts', async () => {
      const { schedulesIn } = await import('@batonjs/server/schedules');
      const overdue = (await schedulesIn(store, options.agent)).filter(({ isOverdue }) => isOverdue);
      const found = overdue.map(({ name, nextAt }) => `${name} since ${nextAt}`);
      return none(found, found.join(', '));
    }),
    find('undelivered webhooks', async () => {
      const dead = await store.listDead(options.agent, { limit: 100 });
      return none(dead, `${dead.length} given up: ${list(dead.map(({ taskId }) => taskId))}`);
    }),
  ]);
}

/** Whether there is nothing of a kind; `some` says what there is. */
const none = ({ length }: ArrayLike<unknown>, some: string) => ({
  isOk: length === 0,
  note: length === 0 ? 'none' : some,
});

const list = (ids: readonly string[]): string => ids.slice(0, 5).join(', ') + (ids.length > 5 ? ' …' : '');

async function waitingOf({ store }: OpenedStore, { agent, stuckAfter }: StoreCheckOptions) {
  const waiting = await store.waiting(agent);
  const { waitingMs = 0 } = (await store.measure?.(agent)) ?? {};
  if (waitingMs < stuckAfter) return { isOk: true, note: String(waiting) };
  // With `run: 'due'`, nothing but a call takes them.
  const record = await store.getRecord(recordName('due-runs', agent));
  const last = record && new Date((record.value as { at: number }).at).toISOString();
  const run = last ? `the last run with something to do began at ${last}` : 'no run of `runDue` is known';
  return { isOk: false, note: `${waiting}, one for ${durationText(waitingMs)}: ${run}` };
}

async function clockOf({ kind, address }: OpenedStore) {
  // A file is on the clock of this machine, and etcd does not tell its own.
  if (kind === 'sqlite' || kind === 'etcd') return undefined;
  const before = Date.now();
  const theirs = kind === 'redis' ? await redisTime(address) : await postgresTime(address);
  return clockSkew(theirs, before, Date.now());
}

async function evictionOf({ kind, address }: OpenedStore) {
  if (kind !== 'redis') return undefined;
  const info = await withRedis(address, (client) => client.info('memory'));
  const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1] ?? 'noeviction';
  return { isOk: policy === 'noeviction', note: `maxmemory-policy is ${policy}` };
}

async function connectionsOf({ kind, address }: OpenedStore) {
  if (kind === 'sqlite' || kind === 'etcd') return undefined;
  const [used = 0, most = 0] = await (kind === 'redis' ? redisClients(address) : postgresClients(address));
  return { isOk: used < most * 0.8, note: `${used} of ${most} are open` };
}

async function indexesOf({ kind, address }: OpenedStore) {
  if (kind === 'redis' || kind === 'etcd') return undefined;
  const there = new Set(kind === 'sqlite' ? sqliteIndexes(address) : await readPostgresNames(address));
  const wanted = kind === 'sqlite' ? await freshIndexes() : wantedOf(there);
  const missing = wanted.filter((name) => !there.has(name));
  return {
    isOk: missing.length === 0,
    note: missing.length === 0 ? 'all there' : `missing: ${missing.join(', ')}`,
  };
}

/** The indexes of a new file, made by the same adapter. */
async function freshIndexes(): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'baton-doctor-'));
  try {
    const store = sqliteStore(join(folder, 'fresh.db'));
    await store.ping();
    await store.close();
    return sqliteIndexes(join(folder, 'fresh.db'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function sqliteIndexes(path: string): string[] {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    const rows = database
      .prepare("SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL")
      .all();
    return rows.map(({ name }) => String(name));
  } finally {
    database.close();
  }
}

/** The indexes that the adapter makes in PostgreSQL. */
export const postgresIndexes: readonly string[] = [
  ...'tasks_by_status tasks_by_context tasks_by_term tasks_waiting tasks_due'.split(' '),
  ...'tasks_left tasks_held tasks_turns tasks_ended webhooks_ready webhooks_dead'.split(' '),
  ...'callers_turns tasks_asking records_of_scope records_by_end task_texts_by_word'.split(' '),
];

/** The words of first messages are searched only where `textSearch` is on. */
const wantedOf = (there: ReadonlySet<string>): readonly string[] =>
  postgresIndexes.filter((name) => name !== 'task_texts_by_word' || there.has('task_texts'));

async function withRedis<T>(
  url: string,
  use: (client: {
    info(section: string): Promise<string>;
    sendCommand(words: string[]): Promise<unknown>;
  }) => Promise<T>,
): Promise<T> {
  const { createClient } = await import('redis');
  const client = createClient({ url });
  client.on('error', () => {});
  await client.connect();
  try {
    return await use(client as never);
  } finally {
    client.destroy();
  }
}

const redisTime = (url: string): Promise<number> =>
  withRedis(url, async (client) => {
    const [seconds, microseconds] = (await client.sendCommand(['TIME'])) as [string, string];
    return Number(seconds) * 1_000 + Number(microseconds) / 1_000;
  });

const redisClients = (url: string): Promise<number[]> =>
  withRedis(url, async (client) => {
    const info = await client.info('clients');
    return [/^connected_clients:(\d+)/m, /^maxclients:(\d+)/m].map((name) => Number(name.exec(info)?.[1]));
  });

async function queryPostgres(url: string, text: string): Promise<unknown[][]> {
  const { Client } = (await import('pg')).default;
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query({ text, rowMode: 'array' })).rows;
  } finally {
    await client.end();
  }
}

async function postgresTime(url: string): Promise<number> {
  const [row] = await queryPostgres(url, 'SELECT extract(epoch FROM clock_timestamp()) * 1000');
  return Number(row?.[0]);
}

async function postgresClients(url: string): Promise<number[]> {
  const text = `SELECT count(*), current_setting('max_connections') FROM pg_stat_activity`;
  return (await queryPostgres(url, text)).flat().map(Number);
}

/** The names of all indexes and tables. */
async function readPostgresNames(url: string): Promise<string[]> {
  const text = 'SELECT indexname FROM pg_indexes UNION ALL SELECT tablename FROM pg_tables';
  return (await queryPostgres(url, text)).flat().map(String);
}
