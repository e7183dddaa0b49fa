import { expect, it, onTestFinished } from 'vitest';
import { sqliteStore } from '../../src/index.ts';
import { freshPath } from '../folder.ts';
import { create } from '../logs.ts';
import { otherProcess } from '../other-process.ts';

it('a process that was started later measures leases by the same clock', async () => {
  const path = freshPath();
  const store = sqliteStore(path, { durability: 'normal' });
  onTestFinished(() => store.close());
  const other = otherProcess();
  onTestFinished(() => void other.child.kill());
  const second = await other.open(path);
  await create(store, 'long', { turn: { queue: 'q', acquire: { holder: 'a', ttlMs: 3_600_000 } } });
  await create(store, 'short', { turn: { queue: 'q', acquire: { holder: 'b', ttlMs: 1 } } });
  await expect
    .poll(async () =>
      (await second.claim({ queue: 'q', holder: 'c', ttlMs: 1_000, limit: 10 })).map(({ taskId }) => taskId),
    )
    .toEqual(['short']);
});
