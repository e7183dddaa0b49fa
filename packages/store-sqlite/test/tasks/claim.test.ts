import { expect, it, onTestFinished } from 'vitest';
import { sqliteStore } from '../../src/index.ts';
import { chunk, commitOf, complete, create } from '../logs.ts';

const claim = { queue: 'q', holder: 'h', ttlMs: 60_000, limit: 1 };
const wanted = { turn: { queue: 'q', want: true } };

it('a task is claimed by its id even if others have the same id in other scopes', async () => {
  const store = sqliteStore(':memory:');
  onTestFinished(() => store.close());
  for (const scope of ['a', 'b', 'd']) await create(store, 't', { scope, turn: { queue: 'q' } });
  await create(store, 't', { ...wanted, scope: 'c' });
  expect(await store.claim({ ...claim, taskId: 't' })).toMatchObject([{ scope: 'c', taskId: 't' }]);
});

it('tasks are claimed in the order in which they became ready, whatever made them so', async () => {
  let time = 1_000;
  const store = sqliteStore(':memory:', { now: () => time, monotonic: () => time });
  onTestFinished(() => store.close());
  await create(store, 'left', { turn: { queue: 'q', acquire: { holder: 'dead', ttlMs: 50 } } });
  await create(store, 'finished', wanted);
  await create(store, 'first', wanted);
  await complete(store, 'finished', 1);
  time = 2_000;
  await create(store, 'last', wanted);
  // Wanted once more, but waiting since it was wanted first.
  await store.commit(commitOf('first', 1, [chunk(1)], wanted));
  const claimed = [];
  for (let n = 0; n < 4; n++) claimed.push(...(await store.claim({ ...claim, holder: `h${n}` })));
  expect(claimed.map(({ taskId }) => taskId)).toEqual(['first', 'left', 'last']);
});
