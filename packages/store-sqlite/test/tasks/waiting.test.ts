import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../src/database/open-database.ts';
import { sqliteStore } from '../../src/index.ts';
import { migrations } from '../../src/sql/schema.ts';
import { storeOnDatabase } from '../../src/store-on-database.ts';
import { freshPath } from '../folder.ts';
import { complete, create } from '../logs.ts';

const wanting = (queue: string) => ({ turn: { queue, want: true, waitingAtMost: 1_000 } });

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
    expect(plans.filter((detail) => /\bwaiting\b/.test(detail))).not.toEqual([]);
    expect(plans.filter((detail) => /\bSCAN\b|tasks_(waiting|turns|ready)/.test(detail))).toEqual([]);
  });

  it('is counted for a file of an older release, and while that one still writes to it', async () => {
    const path = freshPath();
    const store = sqliteStore(path);
    for (const taskId of ['a', 'b', 'c']) await create(store, taskId, wanting('q'));
    await store.close();
    const db = new DatabaseSync(path);
    onTestFinished(() => db.close());
    // As the release before left it.
    for (const name of ['inserted', 'begun', 'ended', 'deleted']) db.exec(`DROP TRIGGER waiting_${name}`);
    const before = migrations.findIndex((step) => step.includes('CREATE TABLE waiting'));
    db.exec(`DROP TABLE waiting; DROP TABLE pieces; PRAGMA user_version = ${before}`);
    const other = sqliteStore(path);
    onTestFinished(() => other.close());
    expect(await other.waiting('q')).toBe(3);
    db.exec(`UPDATE tasks SET waiting_since = NULL WHERE task_id = 'a'`);
    expect(await other.waiting('q')).toBe(2);
    db.exec(`UPDATE tasks SET queue = 'p' WHERE task_id = 'b'`);
    expect([await other.waiting('q'), await other.waiting('p')]).toEqual([1, 1]);
    db.exec(`DELETE FROM tasks WHERE task_id = 'b'`);
    expect(await other.waiting('p')).toBe(0);
    await complete(other, 'c', 1);
    expect(await other.waiting('q')).toBe(0);
  });
});
