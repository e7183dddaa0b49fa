import { type Command, evolve, fromSnapshot, historyOf, isTerminal, toSnapshot } from '@batonjs/lifecycle';
import { describe, expect, it } from 'vitest';
import { artifact, at, create, given, receive, said, startTurn, stored, text, to } from './given.ts';

const idsOf = (messages: readonly { messageId: string }[]) => messages.map(({ messageId }) => messageId);

describe('the history of a task', () => {
  const { now } = given(receive('m1'), create, startTurn, to('WORKING', 'w1'), receive('m2'));

  it.each([
    [0, []],
    [1, ['m2']],
    [2, ['m1', 'm2']],
    [3, ['m1', 'm2']],
    [undefined, ['m1', 'm2']],
  ])(
    'of %s messages leaves out the one of the current status, wherever that stands',
    (historyLength, ids) => {
      expect(idsOf(historyOf(now, { historyLength }))).toEqual(ids);
    },
  );

  it('has all messages while no status has one', () => {
    const { now } = given(receive('m1'), create, receive('m2'), receive('m3'));
    expect(idsOf(historyOf(now))).toEqual(['m1', 'm2', 'm3']);
    expect(now.taken).toEqual([]);
  });
});

it('a message with the id of an agent’s, appended before its sender could know that, waits for a turn', () => {
  const { now } = given(receive('m1'), create, startTurn, to('WORKING', 'w1'));
  const message = said('w1', { taskId: 'task' });
  const next = evolve(now, { format: 1, at: at(9), type: 'message-received', message });
  expect(idsOf(next.pending.map(({ message }) => message))).toEqual(['w1']);
});

it('a snapshot has the task with its artifacts as JSON, and gives the same state again', () => {
  const { now } = given(receive('m1'), create, startTurn, to('WORKING', 'w1'), artifact('a1', ['x', 'y']));
  const snapshot = stored(toSnapshot(now));
  expect(snapshot.state.task).toMatchObject({
    id: 'task',
    status: { state: 'TASK_STATE_WORKING' },
    artifacts: [{ artifactId: 'a1', parts: [text('x'), text('y')] }],
  });
  expect(stored(toSnapshot(fromSnapshot(snapshot)))).toEqual(snapshot);
});

it('a state that no release knows is not terminal', () => {
  expect([isTerminal('TASK_STATE_UNHEARD_OF' as never), isTerminal('TASK_STATE_UNSPECIFIED')]).toEqual([
    false,
    false,
  ]);
});

it.each<[string, readonly Command[]]>([
  ['the first attempt', [receive('m1'), create]],
  ['a later attempt', [receive('m1'), create, startTurn]],
])('%s of a turn says that it runs alone if it does, and nothing else', (_, before) => {
  const [alone] = given(...before).when({ type: 'start-turn', alone: true });
  expect(alone).toMatchObject({ type: 'turn-started', alone: true });
  const [beside] = given(...before).when(startTurn);
  expect(Object.keys(beside!)).not.toContain('alone');
});
