import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../src/database/open-database.ts';
import { storeOnDatabase } from '../../src/sqlite-store.ts';
import { freshPath } from '../folder.ts';
import { chunk, commitOf, complete, create } from '../logs.ts';

const turn = { queue: 'q', acquire: { holder: 'h', ttlMs: 60_000 } };

/** A store that counts how often it reads a task by its name, and another connection to its file. */
function opened(monotonic: () => number = () => 1_000) {
  const path = freshPath();
  const db = openDatabase(path, 'normal');
  const reads = { count: 0 };
  const prepare = db.prepare.bind(db);
  db.prepare = (sql) => {
    const statement = prepare(sql);
    if (!/^SELECT .* FROM tasks WHERE task_id = \? AND scope = \?$/.test(sql)) return statement;
    const get = statement.get.bind(statement);
    return Object.assign(statement, {
      get(...values: SQLInputValue[]) {
        reads.count++;
        return get(...values);
      },
    });
  };
  const store = storeOnDatabase(db, { name: path, shared: true, monotonic });
  const other = new DatabaseSync(path);
  onTestFinished(async () => {
    other.close();
    await store.close();
  });
  return { store, other, reads };
}

describe('a task that this connection wrote last', () => {
  it('is read once, when it is new, and never for what follows', async () => {
    const { store, reads } = opened();
    await create(store, 't', { turn });
    for (let version = 1; version < 20; version++)
      expect(await store.commit(commitOf('t', version, [chunk(version)]))).toMatchObject({
        version: version + 1,
      });
    await complete(store, 't', 20);
    expect(reads.count).toBe(1);
  });

  it.each([
    ['gave its lease to another process', "UPDATE tasks SET holder = 'other'", 'FENCED'],
    ['added a fact', 'UPDATE tasks SET version = 2', 'VERSION_CONFLICT'],
  ])('is read again after another connection %s', async (_, change, code) => {
    const { store, other, reads } = opened();
    const { lease } = await create(store, 't', { turn });
    const next = commitOf('t', 1, [chunk(1)], { writer: lease! });
    other.exec(change);
    await expect(store.commit(next)).rejects.toMatchObject({ code });
    expect(reads.count).toBe(2);
  });

  it('is read again if it was deleted here, or by another connection', async () => {
    const { store, other } = opened();
    await create(store, 'here');
    await store.erase!('s', 'here');
    await create(store, 'there');
    other.exec('DELETE FROM facts; DELETE FROM tasks');
    for (const id of ['here', 'there'])
      await expect(store.commit(commitOf(id, 1, [chunk(1)]))).rejects.toMatchObject({
        code: 'VERSION_CONFLICT',
      });
  });

  it('is read again after leases of before the start of the host were ended', async () => {
    const clock = { now: 86_400_000 };
    const { store, reads } = opened(() => clock.now);
    await create(store, 't', { turn });
    await create(store, 'u', { turn });
    clock.now = 1_000;
    expect(await store.claim({ queue: 'q', holder: 'b', ttlMs: 1_000, limit: 1 })).toHaveLength(1);
    reads.count = 0;
    await Promise.all(['t', 'u'].map((id) => store.commit(commitOf(id, 1, [chunk(1)]))));
    // The other one was written by the claim.
    expect(reads.count).toBe(1);
  });

  it('is not kept forever: of more than a thousand tasks, the earlier ones are read again', async () => {
    const { store, reads } = opened();
    await Promise.all(Array.from({ length: 1_025 }, (_, n) => create(store, `t${n}`)));
    reads.count = 0;
    await store.commit(commitOf('t1024', 1, [chunk(1)]));
    expect(reads.count).toBe(0);
    await store.commit(commitOf('t0', 1, [chunk(1)]));
    expect(reads.count).toBe(1);
  });
});
