import { statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../src/database/open-database.ts';
import { storeOnDatabase } from '../../src/sqlite-store.ts';
import { freshPath } from '../folder.ts';
import { chunk, commitOf, complete, create } from '../logs.ts';

/** A store whose write-ahead log only grows, so that its size shows how much was written. */
function measured() {
  const path = freshPath();
  const db = openDatabase(path, 'normal');
  db.exec('PRAGMA wal_autocheckpoint = 0');
  const store = storeOnDatabase(db, { name: path, shared: true, now: Date.now });
  onTestFinished(() => store.close());
  return { store, written: () => statSync(`${path}-wal`).size };
}

describe('the bytes written', () => {
  it('per appended chunk are the same at the beginning and after thousands', async () => {
    const { store, written } = measured();
    await create(store, 't', { turn: { queue: 'q', acquire: { holder: 'h', ttlMs: 60_000 } } });
    let version = 1;
    const perChunk = async (chunks: number) => {
      const before = written();
      for (let n = 0; n < chunks; n++)
        version = (await store.commit(commitOf('t', version, [chunk(version)]))).version;
      return (written() - before) / chunks;
    };
    const early = await perChunk(500);
    await perChunk(4_000);
    const late = await perChunk(500);
    expect(late / early).toBeLessThan(1.1);
    // A page for the fact, one for the task, one for the change; now and then one more, where a page is full.
    expect(late).toBeLessThan(4 * 4_200);
  });

  it('per commit shrink when many tasks are written at once', async () => {
    const { store, written } = measured();
    const ids = Array.from({ length: 64 }, (_, n) => `t${n}`);
    await Promise.all(ids.map((id) => create(store, id)));
    const commitAll = (version: number) =>
      ids.map((id) => () => store.commit(commitOf(id, version, [chunk(version)])));
    const start = written();
    for (const commit of commitAll(1)) await commit();
    const apart = written() - start;
    await Promise.all(commitAll(2).map((commit) => commit()));
    const together = written() - start - apart;
    expect(together).toBeLessThan(apart / 4);
  });
});

describe('every statement', () => {
  it('finds what it needs by an index', async () => {
    const db = openDatabase(':memory:', 'normal');
    const statements = new Set<string>();
    const prepare = db.prepare.bind(db);
    db.prepare = (sql: string) => {
      statements.add(sql);
      return prepare(sql);
    };
    const store = storeOnDatabase(db, { name: 'memory', shared: false, now: Date.now });
    await create(store, 't');
    await create(store, 'message', { head: { ...commitOf('x', 0, [chunk(1)]).head!, state: undefined } });
    await complete(store, 't', 1);
    const after = { statusAt: new Date(0).toISOString(), taskId: 't' };
    const since = new Date(0).toISOString();
    for (const query of [
      {},
      { after },
      { statusSince: since },
      { answered: true },
      { state: 'TASK_STATE_COMPLETED' as const },
    ]) {
      await store.list('s', { limit: 5, ...query });
      await store.list('s', { limit: 5, contextId: 'c', ...query });
    }
    const plans = [...statements]
      .filter((sql) => !/^(PRAGMA|BEGIN|COMMIT|ROLLBACK)/.test(sql))
      .flatMap((sql) => {
        const details = prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as { detail: string }[];
        return details.map(({ detail }) => ({ sql, detail }));
      });
    const tables = /\b(SCAN|USE TEMP B-TREE FOR ORDER BY)\b/;
    const slow = plans.filter(
      ({ detail }) =>
        tables.test(detail) &&
        !/SCAN (found|callers|queues|json_each|sqlite_schema|CONSTANT ROW|\(subquery)/.test(detail),
    );
    expect(slow).toEqual([]);
    expect(plans.length).toBeGreaterThan(50);
    await store.close();
  });
});

describe('the record of changes for other processes', () => {
  it('does not grow', async () => {
    const path = freshPath();
    const db = openDatabase(path, 'normal');
    const store = storeOnDatabase(db, { name: path, shared: true, now: Date.now });
    onTestFinished(() => store.close());
    await create(store, 't');
    for (let version = 1; version < 2_600; version++)
      await store.commit(commitOf('t', version, [chunk(version)]));
    const other = new DatabaseSync(path);
    const { changes } = other.prepare('SELECT count(*) AS changes FROM changes').get() as { changes: number };
    other.close();
    expect(changes).toBeLessThan(1_500);
  });
});
