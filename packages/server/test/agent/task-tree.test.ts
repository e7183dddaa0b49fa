import { TASK_TREE } from '@batonjs/protocol/headers';
import { expect, it } from 'vitest';
import { say } from '../../../../test/kit/rpc.ts';
import { parentIn } from '../../src/agent/message-content.ts';

const naming = (parent: unknown) => parentIn(say('go', { metadata: { [TASK_TREE]: { parent } } }));

it('the parent of a task is what its first message names', () => {
  expect(naming({ taskId: 't-1', name: 'search', more: true })).toEqual({ taskId: 't-1', name: 'search' });
  expect(naming({ taskId: 'x'.repeat(512), name: 'n' })?.taskId).toHaveLength(512);
});

it.each([
  ['nothing', undefined],
  ['no object', 'a text'],
  ['no id', { name: 'search' }],
  ['no name', { taskId: 't-1' }],
  ['an empty id', { taskId: '', name: 'search' }],
  ['an id that is too long', { taskId: 'x'.repeat(513), name: 'search' }],
  ['a number', { taskId: 1, name: 'search' }],
])('a message that names %s has none', (_, parent) => {
  expect(naming(parent)).toBeUndefined();
});

it('a message without metadata has none, nor has a task without a message', () => {
  expect([parentIn(say('go')), parentIn(undefined)]).toEqual([undefined, undefined]);
});
