import { FACT_FORMAT, type Fact, replay } from '@batonjs/lifecycle';
import { expect, it } from 'vitest';
import { say } from '../../../../../test/kit/rpc.ts';
import { scope } from '../../../../../test/kit/scope.ts';
import { reportTransitions } from '../../../src/log/write/decision.ts';

const at = '2026-01-01T00:00:00.000Z';
const written = { format: FACT_FORMAT, at } as const;
const received = (contextId?: string): Fact => ({
  ...{ ...written, type: 'message-received', message: say('go', { ...(contextId && { contextId }) }) },
});
const created: Fact = { ...written, type: 'task-created', taskId: 't', contextId: 'c' };
const status = (state: string): Fact =>
  ({ ...written, type: 'status-changed', status: { state: `TASK_STATE_${state}`, timestamp: at } }) as Fact;

/** What is reported of these facts, after those. */
function reported(facts: readonly Fact[], before: readonly Fact[] = []) {
  const told: (string | undefined)[][] = [];
  const stored = facts.map((fact, n) => ({ version: before.length + n + 1, commitId: 'x', fact }));
  const live = { scope, taskId: 't', state: replay([...before, ...facts])! };
  reportTransitions(replay([...before]), live, stored, (transition) => {
    const { taskId, contextId, from, to } = transition;
    expect([taskId, transition.at]).toEqual(['t', at]);
    told.push([contextId, from?.slice(11), to.slice(11)]);
  });
  return told;
}

it('each change of the state is reported, with the one before it', () => {
  expect(reported([received('c'), created, status('WORKING'), status('COMPLETED')])).toEqual([
    ['c', undefined, 'SUBMITTED'],
    ['c', 'SUBMITTED', 'WORKING'],
    ['c', 'WORKING', 'COMPLETED'],
  ]);
  expect(reported([status('INPUT_REQUIRED')], [received('c'), created, status('WORKING')])).toEqual([
    ['c', 'WORKING', 'INPUT_REQUIRED'],
  ]);
});

it('a state that is repeated, and a fact that sets none, are no change', () => {
  expect(reported([status('WORKING'), received('c'), status('WORKING')], [received('c'), created])).toEqual([
    ['c', 'SUBMITTED', 'WORKING'],
  ]);
  expect(reported([status('WORKING')], [received('c'), created, status('WORKING')])).toEqual([]);
  expect(reported([received('c')])).toEqual([]);
});

it('the context is that of the task, or of its first message', () => {
  expect(reported([received('c'), created])).toEqual([['c', undefined, 'SUBMITTED']]);
  expect(reported([received(), { ...created, contextId: 'own' }, status('WORKING')])).toEqual([
    ['own', undefined, 'SUBMITTED'],
    ['own', 'SUBMITTED', 'WORKING'],
  ]);
  expect(reported([status('WORKING')], [received('first'), { ...created, contextId: 'first' }])).toEqual([
    ['first', 'SUBMITTED', 'WORKING'],
  ]);
});
