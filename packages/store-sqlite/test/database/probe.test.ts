import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../src/database/open-database.ts';
import { storeOnDatabase } from '../../src/sqlite-store.ts';
import { freshPath } from '../folder.ts';
import { chunk, commitOf, create } from '../logs.ts';

function open() {
  const path = freshPath();
  const db = openDatabase(path, 'normal');
  const store = storeOnDatabase(db, { name: path, shared: true, now: Date.now, maxWaitMs: 50 });
  onTestFinished(() => store.close());
  return { path, db, store, probe: () => store.probe!() };
}

const refusal = (trouble: string, message: RegExp) => ({
  code: 'UNAVAILABLE',
  trouble,
  message: expect.stringMatching(message),
});

describe('a probe', () => {
  it('resolves where the file can be written, and leaves nothing behind', async () => {
    const { db, store, probe } = open();
    await create(store, 't');
    await probe();
    await probe();
    expect(db.prepare('SELECT count(*) AS rows FROM snapshots').get()).toEqual({ rows: 0 });
    expect(await store.load('s', 't')).toMatchObject({ version: 1 });
    expect((await store.list('s', { limit: 9 })).total).toBe(1);
  });

  it('says that the disk is full, as long as it is', async () => {
    const { db, store, probe } = open();
    await create(store, 't');
    const pages = Object.values(db.prepare('PRAGMA page_count').get()!)[0];
    db.exec(`PRAGMA max_page_count = ${pages}`);
    await expect(probe()).rejects.toMatchObject(refusal('disk-full', /disk is full/));
    const big = commitOf('t', 1, [chunk(1, 'x'.repeat(100_000))]);
    await expect(store.commit(big)).rejects.toMatchObject(refusal('disk-full', /disk is full/));
    db.exec('PRAGMA max_page_count = 1000000');
    await probe();
    expect(await store.commit(big)).toMatchObject({ version: 2 });
  });

  it('says that the file is read-only', async () => {
    const { db, probe } = open();
    db.exec('PRAGMA query_only = ON');
    await expect(probe()).rejects.toMatchObject(refusal('read-only', /read-only/));
    db.exec('PRAGMA query_only = OFF');
    await probe();
  });

  it('says that another process holds the file', async () => {
    const { path, probe } = open();
    const other = new DatabaseSync(path);
    other.exec('BEGIN IMMEDIATE');
    await expect(probe()).rejects.toMatchObject(refusal('locked', /is held by/));
    other.exec('COMMIT');
    other.close();
    await probe();
  });

  it('takes no other write of the same moment with it when it fails', async () => {
    const { db, store, probe } = open();
    await create(store, 't');
    db.exec(`PRAGMA max_page_count = ${Object.values(db.prepare('PRAGMA page_count').get()!)[0]}`);
    const [probed, written] = await Promise.allSettled([probe(), store.commit(commitOf('t', 1, [chunk(1)]))]);
    expect([probed.status, written.status]).toEqual(['rejected', 'fulfilled']);
  });
});
