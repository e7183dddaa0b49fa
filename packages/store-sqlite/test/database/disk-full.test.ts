import { describe, expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../src/database/open-database.ts';
import { storeOnDatabase } from '../../src/sqlite-store.ts';
import { freshPath } from '../folder.ts';
import { chunk, commitOf, create } from '../logs.ts';

/** A store whose disk can be filled up: SQLite then fails as it does where no space is left. */
function onSmallDisk() {
  const path = freshPath();
  const db = openDatabase(path, 'normal');
  const groups: number[] = [];
  const onGroup = (size: number) => groups.push(size);
  const store = storeOnDatabase(db, { name: path, shared: true, now: Date.now, onGroup });
  onTestFinished(() => store.close());
  const limit = (pages: number) => db.exec(`PRAGMA max_page_count = ${pages}`);
  return {
    store,
    groups,
    fill: () => limit(Object.values(db.prepare('PRAGMA page_count').get()!)[0] as number),
    makeRoom: () => limit(1_000_000),
  };
}

const full = {
  status: 'rejected',
  reason: expect.objectContaining({ code: 'UNAVAILABLE', message: expect.stringMatching(/disk is full/) }),
};

describe('a full disk', () => {
  it('fails commits with a clear error, stores nothing of them, and takes them once there is room', async () => {
    const { store, fill, makeRoom } = onSmallDisk();
    await create(store, 't');
    fill();
    const big = commitOf('t', 1, [chunk(1, 'x'.repeat(100_000))]);
    expect(await Promise.allSettled([store.commit(big)])).toEqual([full]);
    expect(await store.readFacts('s', 't', 1, 9)).toEqual([]);
    expect(await store.load('s', 't')).toMatchObject({ version: 1 });
    makeRoom();
    expect(await store.commit(big)).toMatchObject({ version: 2 });
    expect(await store.readFacts('s', 't', 1, 9)).toMatchObject([{ version: 2, commitId: big.commitId }]);
  });

  it('fails every commit of the group, so that none is acknowledged that is not stored', async () => {
    const { store, groups, fill, makeRoom } = onSmallDisk();
    await create(store, 't');
    fill();
    groups.length = 0;
    let notifications = 0;
    await store.subscribe({ scope: 's', taskId: 'a' }, () => notifications++);
    const group = () => [
      create(store, 'a'),
      store.commit(commitOf('t', 1, [chunk(1, 'x'.repeat(100_000))])),
      create(store, 'b'),
      create(store, 'b'),
    ];
    expect(await Promise.allSettled(group())).toEqual([full, full, full, full]);
    expect(groups).toEqual([]);
    expect(notifications).toBe(0);
    expect((await store.list('s', { limit: 9 })).total).toBe(1);
    makeRoom();
    expect((await Promise.allSettled(group())).map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'fulfilled',
      'rejected',
    ]);
    expect((await store.list('s', { limit: 9 })).total).toBe(3);
    expect(notifications).toBe(1);
  });

  it('that fills up while tasks are written loses nothing that was acknowledged', async () => {
    const { store, fill, makeRoom } = onSmallDisk();
    fill();
    const acknowledged: string[] = [];
    const write = async (n: number) => {
      await create(store, `t${n}`, { commitId: `c${n}` });
      acknowledged.push(`t${n}`);
    };
    let failed = 0;
    for (let n = 0; n < 400; n += 4) {
      const four = await Promise.allSettled([0, 1, 2, 3].map((k) => write(n + k)));
      failed += four.filter(({ status }) => status === 'rejected').length;
    }
    expect(failed).toBeGreaterThan(0);
    expect(acknowledged.length).toBeGreaterThan(0);
    const listed = async () =>
      (await store.list('s', { limit: 1_000 })).tasks.map(({ taskId }) => taskId).toSorted();
    expect(await listed()).toEqual(acknowledged.toSorted());
    makeRoom();
    await write(1_000);
    expect(await listed()).toEqual(acknowledged.toSorted());
  });
});
