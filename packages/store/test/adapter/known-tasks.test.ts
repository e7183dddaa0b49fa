import { expect, it } from 'vitest';
import { KnownTasks, type TaskRow } from '../../src/adapter.ts';
import { head, row, webhook } from '../a-row.ts';

const known = (task: Partial<TaskRow>, webhooks = 0) => {
  const tasks = new KnownTasks();
  const one = row({ taskId: 'a', ...task });
  tasks.remember(one, { row: row({ taskId: 'a' }), webhooks: [], once: undefined });
  tasks.remember(one, { row: one, webhooks: Array(webhooks).fill(webhook()), once: 1 });
  return (...names: string[]) => tasks.find(names.map((taskId) => ({ scope: one.scope, taskId })));
};

it.each<[string, Partial<TaskRow>, number, boolean]>([
  ['open', {}, 0, true],
  ['read with its webhooks', { webhooks: 2 }, 2, true],
  ['read without its webhooks', { webhooks: 2 }, 0, false],
  ['closed', { head: head(1, { closed: true }) }, 0, false],
  ['empty', { head: undefined }, 0, false],
])('of a task that is %s, what is known without its `once` keys', (_, task, webhooks, isKnown) => {
  const find = known(task, webhooks);
  const there = {
    row: expect.objectContaining(task),
    webhooks: Array(webhooks).fill(webhook()),
    once: undefined,
  };
  const none = { row: undefined, webhooks: [], once: undefined };
  expect(find('a')).toEqual([isKnown ? there : none]);
  expect(find('b')).toEqual([none]);
  expect(find('a', 'a')).toEqual(isKnown ? [there, there] : undefined);
  expect(find('a', 'b')).toBeUndefined();
});
