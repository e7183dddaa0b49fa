import { FACT_FORMAT, type Fact } from '@batonjs/lifecycle';
import type { StoredFact, TaskStore } from '@batonjs/store';
import { describe, expect, it } from 'vitest';
import { readStateHistory } from '../../src/operations/get-task.ts';

const at = '2026-01-01T00:00:00.000Z';
const status = (state: string, messageId?: string) => ({
  type: 'status-changed',
  status: { state: `TASK_STATE_${state}`, ...(messageId && { message: { messageId } }) },
});

/** The history of a log of these facts, and what is read of it. */
async function historyOf(facts: readonly object[], version = facts.length) {
  const stored = facts.map(
    (fact, n): StoredFact => ({
      version: n + 1,
      commitId: 'c',
      fact: { format: FACT_FORMAT, at, ...fact } as unknown as Fact,
    }),
  );
  const reads: unknown[] = [];
  const readFacts: TaskStore['readFacts'] = async (scope, taskId, after, limit) => {
    reads.push([scope, taskId, after, limit]);
    return stored.slice(after, after + limit);
  };
  const history = await readStateHistory({ readFacts } as TaskStore, 's', 't', version);
  return { ...history, reads };
}

describe('the history of the states of a task', () => {
  it('has each change with the one before, its time, its place and its message', async () => {
    const { transitions, omitted, reads } = await historyOf([
      { type: 'message-received' },
      { type: 'task-created' },
      status('WORKING', 'm'),
      { type: 'woken' },
      status('WORKING', 'n'),
      status('COMPLETED'),
    ]);
    const [submitted, working, done] = ['SUBMITTED', 'WORKING', 'COMPLETED'].map(
      (name) => `TASK_STATE_${name}`,
    );
    expect(transitions).toStrictEqual([
      { to: submitted, at, sequence: 2 },
      { from: submitted, to: working, at, sequence: 3, messageId: 'm' },
      { from: working, to: done, at, sequence: 6 },
    ]);
    expect([omitted, reads]).toEqual([undefined, [['s', 't', 0, 6]]]);
  });

  it('ends with the facts that are asked for, and has the newest thousand', async () => {
    const facts = Array.from({ length: 1_203 }, (_, n) => status(n % 2 === 0 ? 'WORKING' : 'INPUT_REQUIRED'));
    const { transitions, omitted, reads } = await historyOf(facts, 1_202);
    expect([transitions.length, omitted, transitions[0]!.sequence, transitions.at(-1)!.sequence]).toEqual([
      1_000, 202, 203, 1_202,
    ]);
    expect(reads).toEqual([
      ['s', 't', 0, 500],
      ['s', 't', 500, 500],
      ['s', 't', 1_000, 202],
    ]);
    expect((await historyOf(facts.slice(0, 1_000))).omitted).toBeUndefined();
  });

  it('of a log that was deleted meanwhile has what was read', async () => {
    const { transitions, reads } = await historyOf([status('WORKING')], 900);
    expect([transitions.length, reads.length]).toEqual([1, 2]);
  });
});
