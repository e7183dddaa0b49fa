import type { Fact } from '@batonjs/lifecycle';
import { FACT_FORMAT, headOf } from '@batonjs/lifecycle';
import { StoreError } from '@batonjs/store';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it } from 'vitest';
import { endsInTime, stuckAfterLeases, stuckLogs } from '../../scripts/workload/stuck.ts';
import { readLogs } from '../../scripts/workload/verdict.ts';
import type { KeptLog } from '../histories/history.ts';
import { change } from '../kit/faulty-store.ts';
import { chunkAfter } from '../kit/task-logs.ts';

const written = { format: FACT_FORMAT, at: '2026-01-01T00:00:00.000Z' } as const;
const received: Fact = {
  ...written,
  type: 'message-received',
  message: { messageId: 'm', contextId: 'c', role: 'ROLE_USER', parts: [{ text: 'go' }] },
};
const artifact = { artifactId: 'out', parts: [{ text: '.' }] };
const added: Fact = { ...written, type: 'artifact-updated', artifact, append: true, lastChunk: false };
const completed: Fact = {
  ...written,
  type: 'status-changed',
  status: { state: 'TASK_STATE_COMPLETED', timestamp: written.at },
};

function logOf(taskId: string, facts: readonly Fact[]): KeptLog {
  const all: Fact[] = [received, { ...written, type: 'task-created', taskId, contextId: 'c' }, ...facts];
  const head = all.reduce<ReturnType<typeof headOf> | undefined>(headOf, undefined)!;
  return {
    taskId,
    head,
    facts: all.map((fact, n) => ({ version: n + 1, commitId: `c${n}`, fact })),
  };
}

/** Time that passes only while something waits for it. */
function leases() {
  const clock = { passed: 0 };
  const sleep = async (ms: number) => {
    clock.passed += ms;
  };
  return { clock, waiting: { leaseMs: 1, sleep } };
}

describe('a task under the crash harness', () => {
  it('is not stuck while it moves, however slowly, and however long that takes', async () => {
    const { clock, waiting } = leases();
    const read = async () => {
      const moves = Math.floor(clock.passed / (stuckAfterLeases - 1));
      return [logOf('slow', moves < 10 ? Array<Fact>(moves).fill(added) : [added, completed])];
    };
    expect(await stuckLogs(read, waiting)).toEqual([]);
    expect(clock.passed).toBeGreaterThanOrEqual(10 * (stuckAfterLeases - 1));
  });

  it('is stuck when nothing happened to it for 20 leases, though another one moved meanwhile', async () => {
    const { clock, waiting } = leases();
    const read = async () => {
      const moves = Math.floor(clock.passed);
      return [
        logOf('still', [added]),
        logOf('moving', moves < 30 ? Array<Fact>(moves).fill(added) : [completed]),
      ];
    };
    expect((await stuckLogs(read, waiting)).map(({ taskId }) => taskId)).toEqual(['still']);
    expect(clock.passed).toBe(30);
  });
});

describe('a run of the crash harness', () => {
  it('waits for clients as long as anything moves, and no longer', async () => {
    const { clock, waiting } = leases();
    const progress = async () => `${Math.min(50, Math.floor(clock.passed))}`;
    expect(await endsInTime(new Promise(() => {}), progress, waiting)).toBe(false);
    expect(clock.passed).toBeCloseTo(50 + stuckAfterLeases, 0);
    expect(await endsInTime(Promise.resolve(), progress, waiting)).toBe(true);
  });
});

describe('the logs of a run', () => {
  it('are read again from a store that is too busy to answer, and from no store that cannot be used', async () => {
    const base = memoryStore();
    await base.commit(chunkAfter(0));
    const failing = (code: 'UNAVAILABLE' | 'UNUSABLE', times: number) => {
      let failures = 0;
      return change(base, {
        list: (list) => async (scope, query) => {
          if (failures++ < times) throw new StoreError(code, 'Too busy');
          return list(scope, query);
        },
      });
    };
    expect(await readLogs(failing('UNAVAILABLE', 3), ['s'])).toMatchObject([{ taskId: 't' }]);
    await expect(readLogs(failing('UNUSABLE', 1), ['s'])).rejects.toMatchObject({ code: 'UNUSABLE' });
    await base.close();
  });
});
