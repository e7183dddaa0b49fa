import { expect, it } from 'vitest';
import { mapRows, Tables } from '../../../../test/add-a-store/map-store.ts';
import { headAt } from '../../../../test/kit/task-logs.ts';
import { type Change, createStore, type Step } from '../../src/adapter.ts';
import { StoreError } from '../../src/index.ts';

const fact = { format: 1, at: '2026-01-01T00:00:00.000Z', type: 'woken' } as const;
const commit = (taskId: string, unlessDeleted = false) => ({
  ...{ scope: 's', taskId, commitId: taskId, expectedVersion: 0, facts: [fact], unlessDeleted },
  head: headAt(1, { closed: true, state: 'TASK_STATE_COMPLETED' }),
});

it.each<[string, (change: Change<unknown, unknown>) => boolean, string, string]>([
  [
    'beside tasks',
    ({ tasks, records = [] }) => tasks !== undefined && records.length > 0,
    'disk-full',
    'LOG_DELETED',
  ],
  ['at all', ({ records = [] }) => records.length > 0, 'disk-full', 'deleted, and not remembered'],
  ['for another reason', ({ records = [] }) => records.length > 0, 'locked', 'not deleted'],
])(
  'a prune that cannot write records %s: the task is what the row says',
  async (_, isTooMuch, trouble, expected) => {
    const rows = mapRows(new Tables(), Date.now);
    let isFull = false;
    const checked = <T>({ decide, wanted }: Step<T>): Step<T> => ({
      wanted,
      decide: (found) => {
        const decision = decide(found);
        if ('decide' in decision) return checked(decision);
        if (isFull && isTooMuch(decision))
          throw new StoreError('UNAVAILABLE', 'No room', { trouble: trouble as 'disk-full' });
        return decision;
      },
    });
    const store = createStore('small', { ...rows, change: (step) => rows.change(checked(step)) });
    for (const taskId of ['a', 'b']) await store.commit(commit(taskId));
    isFull = true;
    const prune = store.prune({ closedBefore: '2100-01-01T00:00:00.000Z', limit: 9 });
    if (trouble === 'disk-full') expect(await prune).toBe(2);
    else await expect(prune).rejects.toMatchObject({ trouble });
    isFull = false;
    const again = Promise.resolve(store.commit(commit('a', true)));
    const outcome = await again.then(
      () => 'deleted, and not remembered',
      ({ code }) => (code === 'VERSION_CONFLICT' || code === 'LOG_CLOSED' ? 'not deleted' : code),
    );
    expect(outcome).toBe(expected);
  },
);

it('a prune deletes what a search found only at its second look', async () => {
  const rows = mapRows(new Tables(), Date.now);
  const store = createStore('few', {
    ...rows,
    change: ({ wanted, ...step }) => {
      const { ended } = wanted;
      return rows.change({ ...step, wanted: { ...wanted, ...(ended && { ended: { ...ended, limit: 1 } }) } });
    },
  });
  for (const taskId of ['a', 'b']) await store.commit(commit(taskId));
  expect(await store.prune({ closedBefore: '2100-01-01T00:00:00.000Z', limit: 9 })).toBe(2);
});
