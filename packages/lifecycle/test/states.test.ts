import { canTransition, isInterrupted, isTerminal, viewTask } from '@batonjs/lifecycle';
import { transitions } from '@batonjs/lifecycle/internals';
import type { TaskState } from '@batonjs/protocol';
import { describe, expect, it } from 'vitest';
import { create, given, receive, startTurn, to } from './given.ts';

// The checklist's matrix: rows are where a task stands, columns where it is to go, in this order.
const states = [
  'SUBMITTED',
  'WORKING',
  'INPUT_REQUIRED',
  'AUTH_REQUIRED',
  'COMPLETED',
  'FAILED',
  'CANCELED',
  'REJECTED',
] as const;
const matrix: Record<(typeof states)[number], string> = {
  SUBMITTED: /*     */ '= Y Y Y Y Y Y Y',
  WORKING: /*       */ '- = Y Y Y Y Y Y',
  INPUT_REQUIRED: /**/ '- Y = Y Y Y Y Y',
  AUTH_REQUIRED: /* */ '- Y Y = Y Y Y Y',
  COMPLETED: /*     */ '- - - - - - - -',
  FAILED: /*        */ '- - - - - - - -',
  CANCELED: /*      */ '- - - - - - - -',
  REJECTED: /*      */ '- - - - - - - -',
};
const named = (name: string) => `TASK_STATE_${name}` as TaskState;
const cells = states.flatMap((from) => {
  const row = matrix[from].split(' ');
  return states.map((target, column) => ({ from, target, allowed: row[column] !== '-' }));
});
const taskIn = (name: string) => given(receive('m1'), create, ...(name === 'SUBMITTED' ? [] : [to(name)]));

describe('the transition matrix', () => {
  it.each(cells)('lets a task go from $from to $target: $allowed [R-STATE-10, R-STATE-13]', (cell) => {
    const { from, target, allowed } = cell;
    expect(canTransition(named(from), named(target))).toBe(allowed);
    const task = taskIn(from);
    if (!allowed) {
      expect(task.refuses(to(target))).toBe('INVALID_AGENT_RESPONSE');
    } else {
      expect(task.when(to(target)).map(({ type }) => type)).toEqual(['status-changed']);
    }
  });

  it.each(states)('lets a new task go to %s at once [R-STATE-11]', (target) => {
    const task = given(receive('m1'), create, startTurn, to(target));
    expect(viewTask(task.now).status.state).toBe(named(target));
  });

  it.each([...states])(
    'never lets a task go from %s to UNSPECIFIED or to a made-up state [R-STATE-01]',
    (from) => {
      expect(canTransition(named(from), 'TASK_STATE_UNSPECIFIED')).toBe(false);
      expect(taskIn(from).refuses(to('UNSPECIFIED'))).toBe('INVALID_AGENT_RESPONSE');
      expect(taskIn(from).refuses(to('DONE'))).toBe('INVALID_AGENT_RESPONSE');
    },
  );

  it('has a row for every state there is', () => {
    expect(Object.keys(transitions).sort()).toEqual(
      [...states, 'UNSPECIFIED'].map((name) => named(name)).sort(),
    );
  });
});

describe('states', () => {
  it('are terminal, interrupted or neither; the unspecified one is neither [R-STATE-01, R-STATE-06]', () => {
    const all = [...states, 'UNSPECIFIED'].map(named);
    expect(all.filter(isTerminal)).toEqual(['COMPLETED', 'FAILED', 'CANCELED', 'REJECTED'].map(named));
    expect(all.filter(isInterrupted)).toEqual(['INPUT_REQUIRED', 'AUTH_REQUIRED'].map(named));
  });
});
