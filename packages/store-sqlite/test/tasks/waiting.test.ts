import { describe, expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../src/database/open-database.ts';
import { sqliteStore } from '../../src/index.ts';
import { storeOnDatabase } from '../../src/sqlite-store.ts';
import { freshPath } from '../folder.ts';
import { chunk, commitOf, complete, create } from '../logs.ts';

const wanting = (queue: string) => ({ turn: { queue, want: true, waitingAtMost: 1_000 } });

it('a queue is measured in everything', async () => {
  const store = sqliteStore(':memory:');
  onTestFinished(() => store.close());
  expect(await store.measure?.('q')).toEqual({
    waiting: 0,
    postponed: 0,
    questions: {},
    undelivered: 0,
    dead: 0,
  });
});

describe('the number of waiting tasks', () => {
  it('is read without a look at the tasks, by a send that waits too', async () => {
    const db = openDatabase(':memory:', 'normal');
    const prepare = db.prepare.bind(db);
    const run = new Set<string>();
    db.prepare = (sql: string) => {
      const statement = prepare(sql);
      return new Proxy(statement, {
        get(target, name) {
          if (name === 'get' || name === 'all' || name === 'run') run.add(sql);
          const member = Reflect.get(target, name);
          return typeof member === 'function' ? member.bind(target) : member;
        },
      });
    };
    const store = storeOnDatabase(db, { name: 'memory', shared: false, now: Date.now });
    onTestFinished(() => store.close());
    await create(store, 'before', wanting('q'));
    run.clear();
    expect(await store.waiting('q', 10)).toBe(1);
    await create(store, 'next', wanting('q'));
    const plans = [...run]
      .filter((sql) => !/^(PRAGMA|BEGIN|COMMIT|ROLLBACK)/.test(sql))
      .flatMap((sql) => prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as { detail: string }[])
      .map(({ detail }) => detail);
    expect(plans.filter((detail) => /\bcounts\b/.test(detail))).not.toEqual([]);
    expect(plans.filter((detail) => /\bSCAN\b|tasks_(waiting|turns|due)/.test(detail))).toEqual([]);
  });

  it('follows what commits, claims, other queues and deletions change, in one transaction or several', async () => {
    const path = freshPath();
    const store = sqliteStore(path);
    const other = sqliteStore(path);
    onTestFinished(async () => {
      await store.close();
      await other.close();
    });
    await Promise.all(['a', 'b', 'c'].map((taskId) => create(store, taskId, wanting('q'))));
    expect(await other.waiting('q')).toBe(3);
    const moved = commitOf('b', 1, [chunk(1)], { turn: { queue: 'p' } });
    const [claimed] = await Promise.all([
      store.claim({ queue: 'q', holder: 'h', ttlMs: 1_000, limit: 1 }),
      other.commit(moved),
    ]);
    expect(claimed).toMatchObject([{ taskId: 'a' }]);
    expect([await other.waiting('q'), await other.waiting('p')]).toEqual([1, 1]);
    await complete(other, 'c', 1);
    await complete(other, 'b', 2);
    expect([await store.waiting('q'), await store.waiting('p')]).toEqual([0, 0]);
  });
});
