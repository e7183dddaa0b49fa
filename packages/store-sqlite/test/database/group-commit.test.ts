import { DatabaseSync } from 'node:sqlite';
import { StoreError } from '@batonjs/store';
import { describe, expect, it, onTestFinished } from 'vitest';
import { groupCommit } from '../../src/database/group-commit.ts';
import { openDatabase } from '../../src/database/open-database.ts';
import { sqliteStore } from '../../src/index.ts';
import { storeOnDatabase } from '../../src/sqlite-store.ts';
import { freshPath } from '../folder.ts';
import { chunk, commitOf, create } from '../logs.ts';

function open(path: string) {
  const groups: number[] = [];
  const store = sqliteStore(path, { durability: 'normal', onGroup: (size) => groups.push(size) });
  onTestFinished(() => store.close());
  return { store, groups };
}

/** Makes SQLite itself fail whatever stores a fact of a commit with this id. */
function breakCommits(path: string, how: 'ABORT' | 'ROLLBACK'): () => void {
  const db = new DatabaseSync(path);
  db.exec(`CREATE TRIGGER broken BEFORE INSERT ON facts WHEN new.commit_id = 'broken'
    BEGIN SELECT RAISE(${how}, 'as the test wants it'); END`);
  return () => {
    db.exec('DROP TRIGGER broken');
    db.close();
  };
}

const codes = (settled: PromiseSettledResult<unknown>[]) =>
  settled.map((one) => (one.status === 'fulfilled' ? 'stored' : one.reason.code));

describe('writes of one round of the event loop', () => {
  it('share one transaction', async () => {
    const { store, groups } = open(freshPath());
    await Promise.all(Array.from({ length: 20 }, (_, n) => create(store, `t${n}`)));
    expect(groups).toEqual([20]);
  });

  it('share it whatever they are: commits, leases, webhooks', async () => {
    const { store, groups } = open(freshPath());
    const turn = { queue: 'q', acquire: { holder: 'h', ttlMs: 60_000 } };
    const { lease } = await create(store, 't', { turn });
    groups.length = 0;
    const config = { taskId: 't', id: 'c', url: 'https://example.com/' };
    const push = { scope: 's', taskId: 't', id: 'c', config, protocolVersion: '1.0', queue: 'q', cursor: 0 };
    await Promise.all([
      store.commit(commitOf('t', 1, [chunk(1)])),
      store.renew([lease!], 1_000),
      store.putPushConfig(push),
    ]);
    expect(groups).toEqual([3]);
  });

  it('share it across callbacks of that turn', async () => {
    const { store, groups } = open(freshPath());
    const writes: unknown[] = [];
    await new Promise<void>((resolve) => {
      for (let n = 0; n < 5; n++) process.nextTick(() => writes.push(create(store, `tick${n}`)));
      queueMicrotask(() => {
        writes.push(create(store, 'microtask'));
        resolve();
      });
    });
    await Promise.all(writes);
    expect(groups).toEqual([6]);
  });

  it('are split where there are very many, and all of them stored', async () => {
    const { store, groups } = open(freshPath());
    await Promise.all(Array.from({ length: 600 }, (_, n) => create(store, `t${n}`)));
    expect(groups.length).toBeGreaterThan(1);
    expect(groups.reduce((sum, size) => sum + size)).toBe(600);
    expect((await store.list('s', { limit: 1 })).total).toBe(600);
  });

  it('see what those before them in the group wrote', async () => {
    const { store, groups } = open(freshPath());
    const chunks = Array.from({ length: 10 }, (_, n) => store.commit(commitOf('t', n + 1, [chunk(n)])));
    const settled = await Promise.allSettled([create(store, 'u'), ...chunks]);
    expect(codes(settled)).toEqual(['stored', ...Array(10).fill('VERSION_CONFLICT')]);
    groups.length = 0;
    const together = [
      create(store, 't'),
      ...Array.from({ length: 10 }, (_, n) => store.commit(commitOf('t', n + 1, [chunk(n)]))),
    ];
    expect((await Promise.all(together)).map(({ version }) => version)).toEqual([
      1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11,
    ]);
    expect(groups).toEqual([11]);
  });
});

describe('a write that is refused', () => {
  it('refuses only itself', async () => {
    const { store, groups } = open(freshPath());
    await create(store, 't');
    groups.length = 0;
    const settled = await Promise.allSettled([
      create(store, 'a'),
      store.commit(commitOf('t', 7, [chunk(1)])),
      create(store, 'a'),
      store.commit(commitOf('t', 1, [chunk(1)], { writer: { fence: 1, holder: 'nobody' } })),
      store.commit(commitOf('t', 1, [chunk(1)])),
    ]);
    expect(codes(settled)).toEqual(['stored', 'VERSION_CONFLICT', 'VERSION_CONFLICT', 'FENCED', 'stored']);
    expect(groups).toEqual([5]);
  });
});

describe('a write that SQLite fails', () => {
  it('fails alone if the transaction lives', async () => {
    const path = freshPath();
    const { store } = open(path);
    const repair = breakCommits(path, 'ABORT');
    const commits = [create(store, 'a'), create(store, 'b', { commitId: 'broken' }), create(store, 'c')];
    const settled = await Promise.allSettled([...commits, create(store, 'c')]);
    expect(codes(settled)).toEqual(['stored', 'UNAVAILABLE', 'stored', 'VERSION_CONFLICT']);
    expect(await store.load('s', 'b')).toBeUndefined();
    expect((await store.list('s', { limit: 9 })).total).toBe(2);
    repair();
    await create(store, 'b', { commitId: 'broken' });
    expect((await store.list('s', { limit: 9, contextId: 'c' })).total).toBe(3);
  });

  it('fails the whole group if the transaction is gone, and notifies of none of it', async () => {
    const path = freshPath();
    const { store, groups } = open(path);
    const repair = breakCommits(path, 'ROLLBACK');
    let notifications = 0;
    for (const taskId of ['a', 'b', 'c', 'd'])
      await store.subscribe({ scope: 's', taskId }, () => notifications++);
    groups.length = 0;
    const group = () => [
      create(store, 'a'),
      create(store, 'b', { commitId: 'broken' }),
      create(store, 'c'),
      create(store, 'c'),
    ];
    expect(codes(await Promise.allSettled(group()))).toEqual(Array(4).fill('UNAVAILABLE'));
    expect(groups).toEqual([]);
    expect(notifications).toBe(0);
    expect(await store.list('s', { limit: 9, answered: true })).toEqual({ tasks: [], total: 0 });
    repair();
    expect(codes(await Promise.allSettled(group()))).toEqual([
      'stored',
      'stored',
      'stored',
      'VERSION_CONFLICT',
    ]);
    expect((await store.list('s', { limit: 9 })).total).toBe(3);
    expect(notifications).toBe(3);
  });
});

describe('a transaction that cannot be committed', () => {
  it('fails all its writes, once each', async () => {
    const db = new DatabaseSync(':memory:');
    db.exec('CREATE TABLE written (value TEXT)');
    let forgotten = 0;
    const hook = {
      beforeCommit: () => db.exec('INSERT INTO nonsense VALUES (1)'),
      afterCommit: () => expect.unreachable(),
      afterRollback: () => forgotten++,
    };
    const group = groupCommit({ db, name: 'file', maxWaitMs: 100, hooks: [hook] });
    let attempts = 0;
    const write = () => {
      attempts++;
      db.exec("INSERT INTO written VALUES ('x')");
    };
    expect(codes(await Promise.allSettled([group.run(write), group.run(write)]))).toEqual([
      'UNAVAILABLE',
      'UNAVAILABLE',
    ]);
    expect([attempts, forgotten]).toEqual([2, 1]);
    expect(db.prepare('SELECT * FROM written').all()).toEqual([]);
  });
});

describe('a file that another process holds', () => {
  it('is waited for without keeping the event loop', async () => {
    const path = freshPath();
    const { store } = open(path);
    const other = new DatabaseSync(path);
    onTestFinished(() => other.close());
    other.exec('BEGIN IMMEDIATE');
    let turns = 0;
    const turning = setInterval(() => {
      // Let go only after the store has had every chance to do something else than waiting.
      if (++turns === 20) other.exec('COMMIT');
    }, 1);
    onTestFinished(() => clearInterval(turning));
    const stored = await Promise.all([create(store, 'a'), create(store, 'b')]);
    expect(stored.map(({ version }) => version)).toEqual([1, 1]);
    expect(turns).toBeGreaterThanOrEqual(20);
  });

  it('can be read meanwhile', async () => {
    const path = freshPath();
    const { store } = open(path);
    await create(store, 't');
    const other = new DatabaseSync(path);
    onTestFinished(() => other.close());
    other.exec('BEGIN IMMEDIATE; UPDATE tasks SET version = 9; DELETE FROM facts');
    expect(await store.load('s', 't')).toMatchObject({ version: 1, facts: [{ version: 1 }] });
    expect(await store.claim({ queue: 'q', holder: 'h', ttlMs: 1, limit: 1 })).toEqual([]);
  });

  it('is an error in the end, and nothing is stored then', async () => {
    const path = freshPath();
    const store = storeOnDatabase(openDatabase(path, 'normal'), {
      name: path,
      shared: true,
      now: Date.now,
      maxWaitMs: 50,
    });
    const other = new DatabaseSync(path);
    other.exec('BEGIN IMMEDIATE');
    const settled = await Promise.allSettled([create(store, 'a'), create(store, 'b')]);
    expect(codes(settled)).toEqual(['UNAVAILABLE', 'UNAVAILABLE']);
    expect(
      settled.every((one) => one.status === 'rejected' && StoreError.is(one.reason, 'UNAVAILABLE')),
    ).toBe(true);
    other.exec('COMMIT');
    expect((await store.list('s', { limit: 1 })).total).toBe(0);
    await create(store, 'a');
    other.close();
    await store.close();
  });
});
