import type { DatabaseSync } from 'node:sqlite';
import { Subscribers } from '@batonjs/store/adapter';
import { expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../src/database/open-database.ts';
import { fileChangesOf } from '../../src/database/sweep.ts';
import { sqliteStore } from '../../src/index.ts';
import { Changes } from '../../src/notifications/changes.ts';
import { freshPath } from '../folder.ts';
import { create } from '../logs.ts';

function twoHandles() {
  const path = freshPath();
  const handles = [1, 2].map(() => sqliteStore(path, { durability: 'normal' }));
  onTestFinished(async () => {
    for (const handle of handles) await handle.close();
  });
  return handles as [ReturnType<typeof sqliteStore>, ReturnType<typeof sqliteStore>];
}

it('what another process wrote is noticed even if this one wrote right after it', async () => {
  const [mine, theirs] = twoHandles();
  for (let n = 0; n < 5; n++) {
    const taskId = `theirs ${n}`;
    const notified: unknown[] = [];
    await mine.subscribe({ scope: 's', taskId }, (version) => notified.push(version));
    await create(mine, `before ${n}`);
    await create(theirs, taskId);
    await create(mine, `after ${n}`);
    await expect.poll(() => notified).toEqual([1]);
  }
});

it('every subscriber is notified when more happened than the file remembers', () => {
  const path = freshPath();
  const [mine, theirs] = [openDatabase(path, 'normal'), openDatabase(path, 'normal')];
  onTestFinished(() => {
    mine.close();
    theirs.close();
  });
  const subscribers = new Subscribers();
  const notified: string[] = [];
  const topic = (taskId: string) => ({ scope: 's', taskId });
  for (const taskId of ['first', 'last', 'never'])
    subscribers.add(topic(taskId), () => notified.push(taskId));
  const writerOn = (db: DatabaseSync, told: Subscribers) => {
    const changes = new Changes(told);
    const file = fileChangesOf(db, changes, told);
    const write = (taskId: string, version: number) => {
      db.exec('BEGIN IMMEDIATE');
      changes.touch([{ ...topic(taskId), version }]);
      file.beforeCommit();
      db.exec('COMMIT');
      file.afterCommit();
      changes.afterCommit();
    };
    return { file, write };
  };
  const { file: noticed, write: writeOwn } = writerOn(mine, subscribers);
  noticed.start();
  const { write } = writerOn(theirs, new Subscribers());
  write('first', 1);
  expect([noticed.refresh(), noticed.refresh(), notified]).toEqual([true, false, ['first']]);
  for (let version = 1; version <= 2_000; version++) write('last', version);
  expect([noticed.refresh(), noticed.refresh(), notified]).toEqual([
    true,
    false,
    ['first', 'first', 'last', 'never'],
  ]);
  // What this process wrote itself it knows, and does not count.
  notified.length = 0;
  for (let version = 1; version <= 2_000; version++) writeOwn('never', version);
  write('first', 2);
  expect([noticed.refresh(), notified.slice(2_000)]).toEqual([true, ['first']]);
});
