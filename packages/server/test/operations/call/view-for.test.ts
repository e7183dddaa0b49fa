import { type Child, FACT_FORMAT, type Fact, replay } from '@batonjs/lifecycle';
import { GENERATION, TASK_TREE } from '@batonjs/protocol/headers';
import { expect, it } from 'vitest';
import { say } from '../../../../../test/kit/rpc.ts';
import { messageOptions } from '../../../src/agent/caller.ts';
import { viewFor } from '../../../src/operations/call/view-for.ts';

const written = { format: FACT_FORMAT, at: '2026-01-01T00:00:00.000Z' } as const;

/** What the tree says of a task that was begun with this metadata, and recorded these children. */
function treeOf(metadata: object | undefined, children: Readonly<Record<string, Child>> = {}) {
  const facts: Fact[] = [
    {
      ...written,
      type: 'message-received',
      message: say('go', { ...(metadata && { metadata: { ...metadata } }) }),
    },
    { ...written, type: 'task-created', taskId: 't', contextId: 'c' } as Fact,
    ...Object.entries(children).map(
      ([name, child]): Fact => ({ ...written, type: 'child-updated', name, child }),
    ),
  ];
  return viewFor([TASK_TREE], messageOptions).metadata!(replay(facts)!)[TASK_TREE];
}

it('tasks are shown with their generation and their tree where these extensions are active, and only there', () => {
  const plain = { currentStatusInHistory: false, historyLength: undefined };
  const shown = (extensions: string[]) => viewFor(extensions, messageOptions);
  expect(shown([])).toEqual({ ...plain, metadata: undefined, generation: false });
  expect(shown([GENERATION])).toEqual({ ...plain, metadata: undefined, generation: true });
  expect(shown([TASK_TREE])).toEqual({ ...plain, metadata: expect.any(Function), generation: false });
});

it('the tree names the parent, if there is one of the right shape, and nothing else that its message says of it', () => {
  const parent = { taskId: 'p', name: 'leaf' };
  expect(treeOf({ [TASK_TREE]: { parent: { ...parent, more: 1 } } })).toStrictEqual({ parent, children: [] });
  const longest = 'x'.repeat(512);
  expect(treeOf({ [TASK_TREE]: { parent: { taskId: longest, name: longest } } })).toMatchObject({
    parent: { taskId: longest },
  });
  const wrong = [{ taskId: 'p' }, { name: 'leaf' }, { taskId: '', name: 'leaf' }, { taskId: 'p', name: '' }];
  const others = [
    { taskId: `${longest}x`, name: 'leaf' },
    { taskId: 1, name: 'leaf' },
    { taskId: 'p', name: 1 },
    'p',
    null,
  ];
  for (const one of [...wrong, ...others])
    expect(treeOf({ [TASK_TREE]: { parent: one } })).toStrictEqual({ children: [] });
  for (const one of [undefined, {}, { [TASK_TREE]: null }])
    expect(treeOf(one)).toStrictEqual({ children: [] });
});

it('the tree names the children, without what only the agent needs', () => {
  const record = { secret: 1 };
  const children = {
    asked: { agent: 'Leaf', taskId: 'a', state: 'TASK_STATE_INPUT_REQUIRED', record },
    begun: { agent: 'Leaf', record },
  } as const;
  expect(treeOf(undefined, children)).toStrictEqual({
    children: [
      { name: 'asked', agent: 'Leaf', taskId: 'a', state: 'TASK_STATE_INPUT_REQUIRED' },
      { name: 'begun', agent: 'Leaf' },
    ],
  });
});
