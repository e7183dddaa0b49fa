import { StoreError, type TaskStore } from '@batonjs/store';
import { describe, expect, it } from 'vitest';
import { identityWatch } from '../../src/log/live-tasks.ts';
import { type LogDependencies, reportLostFacts } from '../../src/log/report-lost-facts.ts';

/** What is logged. */
function logged() {
  const lines: unknown[][] = [];
  return { lines, logger: (...line: unknown[]) => void lines.push(line) };
}

it('a store that was emptied or replaced is logged, each time; an outage is not', async () => {
  const { lines, logger } = logged();
  const identities: (string | Error)[] = ['a', 'a', new Error('away'), 'a', 'b', 'b', 'c'];
  const store = {
    identity: async () => {
      const next = identities.shift()!;
      if (next instanceof Error) throw next;
      return next;
    },
  };
  const check = identityWatch({ store, logger } as unknown as LogDependencies);
  for (let n = 0; n < 7; n++) await check();
  const message = 'The store was emptied or replaced: the tasks it held are gone';
  expect(lines).toEqual([
    ['error', message, { before: 'a', now: 'b' }],
    ['error', message, { before: 'b', now: 'c' }],
  ]);
});

describe('facts that the store lost', () => {
  const report = async (
    load: () => Promise<unknown>,
    closed = false,
    code: StoreError['code'] = 'LOG_DIVERGED',
  ) => {
    const { lines, logger } = logged();
    let isSubscribed = true;
    await reportLostFacts({
      ...{ scope: 's', taskId: 't', version: 7, state: { closed }, readError: new StoreError(code, 'x') },
      dependencies: { store: { load } as unknown as TaskStore, logger } as unknown as LogDependencies,
      unsubscribe: async () => {
        isSubscribed = false;
      },
    });
    expect(isSubscribed).toBe(false);
    return lines;
  };
  const message = 'The store lost facts of a task';

  it('are logged with how many are known and how many are left', async () => {
    expect(await report(async () => ({ version: 3 }))).toEqual([
      ['error', message, { taskId: 't', knownVersion: 7, storedVersion: 3 }],
    ]);
    expect(await report(async () => undefined)).toEqual([
      ['error', message, { taskId: 't', knownVersion: 7, storedVersion: 0 }],
    ]);
    expect((await report(async () => ({ version: 3 }), true)).length).toBe(1);
  });

  it('are no loss if the log ended and is gone, or was deleted', async () => {
    expect(await report(async () => undefined, true)).toEqual([]);
    expect(await report(async () => undefined, false, 'LOG_DELETED')).toEqual([]);
  });

  it('are logged though the store does not answer', async () => {
    const error = new Error('away');
    expect(await report(() => Promise.reject(error))).toEqual([
      ['error', message, { taskId: 't', knownVersion: 7, error }],
    ]);
  });
});
