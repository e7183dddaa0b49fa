import { type Command, decide, evolve, fromSnapshot, toSnapshot, viewTask } from '@batonjs/lifecycle';
import { describe, expect, it } from 'vitest';
import {
  answer,
  artifact,
  at,
  cancel,
  child,
  create,
  given,
  receive,
  startTurn,
  step,
  take,
  to,
  wake,
} from './given.ts';

/** What each refusal says: agents' authors and clients read it. */

const task = [receive('m1'), create];
const running = [...task, startTurn];
const completed = [...running, to('WORKING'), artifact('a1'), to('COMPLETED')];

it.each<[string, readonly Command[], Command]>([
  ['Task task belongs to another context', task, receive('m3', { contextId: 'elsewhere' })],
  ['Task task is finished (TASK_STATE_COMPLETED)', completed, receive('m3')],
  ['There is nothing to start a turn for', [...running, { type: 'end-turn' }], startTurn],
  ['There is no message "m9" to take', running, take('m9')],
  ['Step "s1" is completed already', [...running, step('s1', 1)], step('s1', 2)],
  [
    'There is no artifact "a9" to append to',
    [...running, artifact('a1')],
    artifact('a9', ['x'], { append: true }),
  ],
  [
    'A task cannot go from TASK_STATE_WORKING to TASK_STATE_SUBMITTED',
    [...running, to('WORKING')],
    to('SUBMITTED'),
  ],
  [
    'A message to a task is answered with updates of the task',
    [...running, to('INPUT_REQUIRED'), { type: 'end-turn' }, receive('m2'), startTurn],
    answer('r1'),
  ],
  ['Task task is finished (TASK_STATE_COMPLETED)', completed, cancel],
  ['The id "m1" is that of a client\'s message', running, to('WORKING', 'm1')],
  ['Every artifact needs its artifactId and at least one part', running, artifact('')],
  ['Every message needs its messageId and at least one part', running, answer('')],
  ['The task is finished', completed, artifact('a2')],
  ['The task is finished', completed, wake],
  ['There is no task to update', [receive('m1'), startTurn], to('WORKING')],
  ['No turn is running', task, step('s1', 1)],
  ['There is no task to update', [receive('m1'), startTurn], child('c1')],
  ['The task is finished', completed, child('c1')],
])('says: %s', (message, before, command) => {
  expect(() => given(...before).when(command)).toThrow(expect.objectContaining({ message }));
});

it('names the field that does not match the context of the task', () => {
  expect(() => given(...task).when(receive('m3', { contextId: 'elsewhere' }))).toThrow(
    expect.objectContaining({
      details: [
        expect.objectContaining({
          fieldViolations: [
            { field: 'message.contextId', description: 'does not match the context of the task' },
          ],
        }),
      ],
    }),
  );
});

it('says why what an agent put out cannot be kept', () => {
  const update = { artifact: { artifactId: 'a', parts: [{ data: 1n }] } } as never;
  expect(() => given(...running).when({ type: 'update', update })).toThrow(
    expect.objectContaining({
      message: 'What the agent put out is not JSON',
      cause: new TypeError('JSON cannot say a bigint'),
    }),
  );
});

describe('a stored fact that cannot be folded', () => {
  const fact = { format: 1, at: at(0) } as const;
  const begun = given(...task).now;

  it.each([
    ['The log holds facts of format 2; this release reads 1', begun, { ...fact, format: 2, type: 'woken' }],
    ['The log holds a fact of unknown type "unheard-of"', begun, { ...fact, type: 'unheard-of' }],
    ['A log cannot start with "woken"', undefined, { ...fact, type: 'woken' }],
    [
      '"status-changed" before "task-created"',
      given(receive('m1')).now,
      { ...fact, type: 'status-changed', status: { state: 'TASK_STATE_WORKING', timestamp: at(0) } },
    ],
  ])('is refused: %s', (message, state, fact) => {
    expect(() => evolve(state, fact as never)).toThrow(
      expect.objectContaining({ name: 'UnknownFactError', code: 'UNKNOWN_FACT', message }),
    );
  });

  it('refuses a snapshot of a newer release', () => {
    const snapshot = { ...toSnapshot(begun), format: 2 as never };
    expect(() => fromSnapshot(snapshot)).toThrow('The snapshot has format 2; this release reads 1');
  });
});

it('a log that is no task has no view and no task in its snapshot', () => {
  const { now } = given(receive('m1'));
  expect(() => viewTask(now)).toThrow(new TypeError('The log is not a task'));
  expect(Object.keys(toSnapshot(now).state)).not.toContain('artifacts');
  expect(JSON.parse(JSON.stringify(toSnapshot(now))).state.task).toBeUndefined();
  expect(fromSnapshot(toSnapshot(now))).toEqual(now);
});

it('a log whose first message names no context begins in the empty one', () => {
  const { now, head } = given(receive('m1', { contextId: undefined }));
  expect([now.contextId, head?.contextId]).toEqual(['', '']);
});

it('a step that is completed outside of a turn is not kept', () => {
  const { now } = given(...task);
  const fact = { format: 1, at: at(9), type: 'step-completed', turn: 1, name: 's', result: 1 } as const;
  expect(evolve(now, fact).openTurn).toBeUndefined();
});

it('facts are never earlier than the log', () => {
  const { now } = given(...running);
  expect(decide(now, to('WORKING'), at(0))[0]?.at).toBe(now.at);
  expect(decide(now, to('WORKING'), at(50))[0]?.at).toBe(at(50));
});

it('a second answer with the same id keeps its place', () => {
  const twice = given(...running, to('WORKING', 'r1'), artifact('a1'), to('WORKING', 'r1'));
  expect(twice.now.conversation.messages.length).toBe(2);
});
