import { changesGeneration, type Fact, viewTask } from '@batonjs/lifecycle';
import { describe, expect, it } from 'vitest';
import { answer, create, endTurn, given, receive, said, startTurn, to } from './given.ts';

/** Both readings of what counts: that of A2A 1.1 so far, and that of the timeline, which counts messages of clients too. */
const rule: Record<Fact['type'], readonly [merged: boolean, timeline: boolean]> = {
  'message-received': [false, true],
  'task-created': [true, true],
  answered: [true, true],
  'status-changed': [true, true],
  'artifact-updated': [true, true],
  'turn-started': [false, false],
  'turn-ended': [false, false],
  'message-taken': [false, false],
  'step-completed': [false, false],
  'cancel-requested': [false, false],
  'child-updated': [false, false],
  'step-failed': [false, false],
  'turn-failed': [false, false],
  'turn-paused': [false, false],
  'memory-changed': [false, false],
  'turn-logged': [false, false],
  'labels-set': [false, false],
  'callback-opened': [false, false],
  'callback-received': [false, false],
  'wake-set': [false, false],
  woken: [false, false],
};

describe('the generation of a task', () => {
  it.each(Object.entries(rule))('counts %s as A2A 1.1 has it [R-P11-10] [R-P11-34]', (type, [merged]) => {
    expect(changesGeneration({ type } as Fact)).toBe(merged);
  });

  it('is the same in state and head [R-P11-34]', () => {
    const { state, head } = given(receive('m1'), create, startTurn, to('WORKING', 'w'), endTurn);
    expect([state?.generation, head?.generation]).toEqual([2, 2]);
    const answered = given(receive('m1'), startTurn, answer('r'));
    expect(answered.state?.generation).toBe(1);
  });

  it('is in the view of a task where it is wanted', () => {
    const { state } = given(receive('m1'), create, startTurn, to('WORKING', 'w'), endTurn);
    expect(viewTask(state!, { generation: true }).generation).toBe('2');
    expect(viewTask(state!)).not.toHaveProperty('generation');
  });
});

describe('a message on a condition', () => {
  const asking = [receive('m1'), create, startTurn, to('INPUT_REQUIRED', 'Well?'), endTurn] as const;
  const on = (messageId: string, ifGeneration: number) =>
    ({ type: 'receive', message: said(messageId, { taskId: 'task' }), ifGeneration }) as const;

  it('is received at that generation [R-P11-15]', () => {
    expect(given(...asking, on('m2', 2)).facts.at(-1)).toMatchObject({ type: 'message-received' });
  });

  it.each([0, 1, 3])('is refused at another one: %i [R-P11-15]', (ifGeneration) => {
    expect(() => given(...asking, on('m2', ifGeneration))).toThrow('Task has changed');
  });

  it('is refused if another one was accepted at that generation [R-P11-36]', () => {
    expect(() => given(...asking, on('m2', 2), on('m3', 2))).toThrow(
      'Another message was accepted at this generation of the task',
    );
    expect(given(...asking, receive('m2'), on('m3', 2)).facts.at(-1)).toMatchObject({
      message: { messageId: 'm3' },
    });
  });

  it('joins its original when it is repeated [R-P11-36]', () => {
    const { facts } = given(...asking, on('m2', 2));
    expect(given(...asking, on('m2', 2), on('m2', 2)).facts).toEqual(facts);
  });
});
