import { expect, it } from 'vitest';
import { ComparedChanges } from '../../src/adapter/compared-changes.ts';
import type { TaskRow } from '../../src/port/rows.ts';
import { changedRow, type Replaced } from '../../src/rules/change.ts';
import { row } from '../a-row.ts';

const rows = ['a', 'b'].map((taskId) => row({ taskId }));
const ids = (tasks: readonly Replaced<TaskRow>[]) => tasks.map((task) => changedRow(task).taskId);

it.each([
  ['a renewal is decided again and has both', { tasks: rows }, ['a', 'b']],
  ['a claim leaves that one to the other', {}, ['a']],
])('of two tasks, one of which another process wrote meanwhile, %s', async (_, wanted, expected) => {
  let writes = 0;
  const tasks = rows.map((one) => ({ before: one, after: one }));
  const decided = { change: { result: [''], tasks, partly: ids } };
  const changes = new ComparedChanges().run<string[], typeof decided>(
    { wanted, decide: () => decided.change },
    {
      ...{ mostTogether: 1, guess: () => undefined, decide: async () => decided, write: async () => false },
      writeEach: async (_decided, left) => (writes++ === 0 ? left.slice(0, 1) : left),
    },
  );
  expect(await changes).toEqual(expected);
});
