import { DatabaseSync } from 'node:sqlite';
import { expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../src/database/open-database.ts';
import { sqliteStore } from '../../src/index.ts';
import { storeOnDatabase } from '../../src/sqlite-store.ts';
import { logsOf } from '../../src/tables/logs.ts';
import { tablesOf } from '../../src/tables/tables.ts';
import { freshPath } from '../folder.ts';
import { chunk, commitOf, complete, create, received } from '../logs.ts';

/** A store, and how many rows each table of its file has; the counts of queues, which stay, are left out. */
function open() {
  const path = freshPath();
  const store = sqliteStore(path);
  const file = new DatabaseSync(path, { readOnly: true });
  onTestFinished(async () => {
    file.close();
    await store.close();
  });
  const all = (sql: string) => file.prepare(sql).all() as Record<string, unknown>[];
  const tables = ['contexts', 'tasks', 'facts', 'snapshots', 'once_keys', 'webhooks'];
  const rows = () =>
    Object.fromEntries([
      ...tables.map((table) => [table, all(`SELECT 1 FROM ${table}`).length]),
      ['counts', all("SELECT 1 FROM counts WHERE scope <> ''").length],
    ]);
  return { store, rows, contexts: () => all('SELECT context_id, tasks FROM contexts ORDER BY context_id') };
}

const nothing = { contexts: 0, tasks: 0, facts: 0, snapshots: 0, once_keys: 0, webhooks: 0, counts: 0 };

it('a log that is pruned leaves nothing in any table', async () => {
  const { store, rows } = open();
  await create(store, 't', { once: 'key' });
  await store.putPushConfig({
    scope: 's',
    taskId: 't',
    id: 'w',
    config: { taskId: 't', id: 'w', url: 'https://example.com/hook' },
    protocolVersion: '1.0',
    queue: 'q',
    cursor: 3,
  });
  const commit = commitOf('t', 1, [chunk(1)]);
  await store.commit({ ...commit, snapshot: { ...commit.head, format: 1 } as never });
  await complete(store, 't', 2);
  expect(rows()).toEqual({
    contexts: 1,
    tasks: 1,
    facts: 3,
    snapshots: 1,
    once_keys: 1,
    webhooks: 1,
    counts: 2,
  });
  expect(await store.prune({ closedBefore: '2027-01-01T00:00:00.000Z', limit: 10 })).toBe(1);
  expect(rows()).toEqual(nothing);
});

it('a context that still has tasks outlives one that is pruned', async () => {
  const { store, contexts } = open();
  for (const taskId of ['t', 'u']) await create(store, taskId);
  await complete(store, 't', 1);
  await store.prune({ closedBefore: '2027-01-01T00:00:00.000Z', limit: 10 });
  expect(contexts()).toEqual([{ context_id: 'c', tasks: 1 }]);
});

it('a task that changes its context leaves the one before, which goes when it was the last', async () => {
  const { store, contexts } = open();
  for (const taskId of ['t', 'u']) await create(store, taskId);
  const move = async (taskId: string, version: number, contextId: string) => {
    const commit = commitOf(taskId, version, [chunk(version)]);
    await store.commit({ ...commit, head: { ...commit.head!, contextId } });
  };
  await move('t', 1, 'd');
  expect(contexts()).toEqual([
    { context_id: 'c', tasks: 1 },
    { context_id: 'd', tasks: 1 },
  ]);
  await move('u', 1, 'd');
  expect(contexts()).toEqual([{ context_id: 'd', tasks: 2 }]);
});

it('a log counts in its context once it is a task, and not before', async () => {
  const { store, contexts } = open();
  await create(store, 'other');
  const first = commitOf('t', 0, [received]);
  await store.commit({ ...first, head: { ...first.head!, state: undefined } });
  expect(contexts()).toEqual([{ context_id: 'c', tasks: 1 }]);
  await store.commit(commitOf('t', 1, [chunk(1)]));
  expect(contexts()).toEqual([{ context_id: 'c', tasks: 2 }]);
});

it('a log that never was a task is pruned without a change of its context', async () => {
  const { store, contexts } = open();
  await create(store, 'other');
  const only = commitOf('t', 0, [received]);
  await store.commit({ ...only, head: { ...only.head!, state: undefined, closed: true } });
  expect(await store.prune({ closedBefore: '2027-01-01T00:00:00.000Z', limit: 10 })).toBe(1);
  expect(contexts()).toEqual([{ context_id: 'c', tasks: 1 }]);
});

it('a log without its last fact is damaged, and not deleted', async () => {
  const path = freshPath();
  const store = sqliteStore(path);
  onTestFinished(() => store.close());
  await create(store, 't');
  await store.commit(commitOf('t', 1, [chunk(1)]));
  const file = new DatabaseSync(path);
  file.exec('DELETE FROM facts WHERE version = 2');
  file.close();
  await expect(store.load('s', 't')).rejects.toMatchObject({ code: 'UNREADABLE' });
});

it('a long log is read in several slices', async () => {
  const db = openDatabase(':memory:', 'normal');
  const store = storeOnDatabase(db, { name: 'memory', shared: false });
  onTestFinished(() => store.close());
  const text = 'x'.repeat(600_000);
  await create(store, 't');
  await store.commit(
    commitOf(
      't',
      1,
      Array.from({ length: 6 }, (_, n) => chunk(n + 1, text)),
    ),
  );
  let pauses = 0;
  const tables = tablesOf(db, { leaseNow: Date.now });
  const logs = logsOf(tables, {
    read: async (work) => work(),
    write: async (work) => work(),
    writeUnsynced: async (work) => work(),
    pause: async () => void pauses++,
  });
  expect((await logs.log('s', 't'))?.facts.length).toBe(7);
  // A slice has about a million characters: less than two of these facts.
  expect(pauses).toBeGreaterThanOrEqual(2);
});
