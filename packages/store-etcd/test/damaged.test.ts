import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { chunkAfter } from '../../../test/kit/task-logs.ts';
import { etcdForTests } from '../../../test/support/etcd.ts';
import { digestOf } from '../src/layout/keys.ts';
import { openInterrupted } from './interrupted-store.ts';

const etcd = await etcdForTests();

it.skipIf(!etcd)('What is damaged is said, and what is whole is read', async () => {
  const { store, cluster, keys } = openInterrupted(etcd!.urls, `damaged/${randomUUID()}`);
  for (const taskId of ['t', 'u']) {
    await store.commit(chunkAfter(0, { taskId, snapshot: { version: 1 } as never }));
    await store.commit(chunkAfter(1, { taskId }));
  }
  const task = (taskId: string) => digestOf('s', taskId);
  const damage = (key: string) => cluster.transact({ success: [{ put: { key, value: '{"by":' } }] });
  await damage(keys.snapshot(task('t')));
  await damage(keys.fact(task('u'), 1));
  await expect(store.load('s', 't')).rejects.toMatchObject({
    code: 'UNREADABLE',
    message: expect.stringContaining('The snapshot of task t is damaged'),
  });
  expect(await store.readFacts('s', 't', 0, 9)).toHaveLength(2);
  await expect(store.readFacts('s', 'u', 0, 9)).rejects.toMatchObject({
    code: 'UNREADABLE',
    message: expect.stringContaining('The commit up to 1 is damaged'),
  });
  expect((await store.load('s', 'u'))?.facts).toHaveLength(1);
  // The status of both is in their first facts.
  const { tasks } = await store.list('s', { limit: 9 });
  expect(tasks.map(({ taskId, fact }) => [taskId, fact?.version])).toEqual([
    ['u', undefined],
    ['t', 1],
  ]);
});
