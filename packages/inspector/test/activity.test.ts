import { join } from 'node:path';
import { sqliteStore } from '@batonjs/store-sqlite';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { closedAfterTest } from '../../../test/kit/closed-after-test.ts';
import { change } from '../../../test/kit/faulty-store.ts';
import { temporaryFolder } from '../../../test/kit/temporary-folder.ts';
import { type Activity, activityOf } from '../src/activity.ts';
import type { ActionRecord } from '../src/api/agent.ts';

const record = (n: number, more: Partial<ActionRecord> = {}): ActionRecord => ({
  at: new Date(n).toISOString(),
  action: 'cancel',
  taskId: `task-${n}`,
  ...more,
});
const opened = (folder: string) => closedAfterTest(sqliteStore(join(folder, 'tasks.db')));

/** Activities of two processes on one store. */
function two() {
  const folder = temporaryFolder();
  const [one, other] = [opened(folder), opened(folder)].map((tasks) =>
    activityOf(undefined, { tasks, queue: 'show' }),
  );
  return {
    one: one!,
    other: other!,
    later: () => activityOf(undefined, { tasks: opened(folder), queue: 'show' }),
  };
}

describe('activity', () => {
  it('without a store is the last 1,000 actions of this process, the newest first', async () => {
    const told: ActionRecord[] = [];
    const activity = activityOf((record) => void told.push(record));
    for (let n = 1; n <= 1_001; n += 1) await activity.add(record(n));
    const { records, searched, isKept } = await activity.search('');
    expect([records.length, records[0], records.at(-1)]).toEqual([200, record(1_001), record(802)]);
    expect([searched, isKept, told.length]).toEqual([200, false, 1_001]);
    expect(await activity.search('task-1')).toMatchObject({ searched: 1_000, records: { length: 112 } });
    expect(await activity.search('task-2')).not.toMatchObject({ records: { length: 0 } });
    expect((await activity.search('none')).records).toEqual([]);
  });

  it('of all processes on a store is kept there, in order, and found by all words of who, what, where and why', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const { one, other, later } = two();
    for (let n = 1; n <= 240; n += 2) {
      // Actions of two processes in one millisecond have no order.
      vi.setSystemTime(Date.now() + 1);
      await one.add(record(n, { by: 'Ada', agent: 'bakery' }));
      vi.setSystemTime(Date.now() + 1);
      await other.add(record(n + 1, { action: 'share', problem: `The oven is cold ${n}` }));
    }
    for (const activity of [one, other, later()]) {
      const { records, searched, isKept } = await activity.search('');
      expect([records.length, searched, records[0]!.at, isKept]).toEqual([200, 200, record(240).at, true]);
      const found = async (text: string) => {
        const { records, searched } = await activity.search(text);
        return [searched, records.map(({ taskId }) => taskId)];
      };
      expect(await found('ADA bakery canceled task-7')).toEqual([
        240,
        ['task-79', 'task-77', 'task-75', 'task-73', 'task-71', 'task-7'],
      ]);
      expect(await found('holder link  cold 5')).toEqual([240, expect.arrayContaining(['task-6'])]);
      expect(await found('ada oven')).toEqual([240, []]);
      expect((await activity.search(record(9).at)).records).toEqual([
        record(9, { by: 'Ada', agent: 'bakery' }),
      ]);
    }
    const orderOf = async (activity: Activity) => (await activity.search('ada')).records.map(({ at }) => at);
    expect(await orderOf(other)).toEqual((await orderOf(other)).toSorted().reverse());
  });

  it('is kept for 90 days, without secrets and the ends of long texts', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const { one, other } = two();
    const problem = `${'x'.repeat(499)}😀 and more`;
    await one.add(record(1, { problem, by: 'a-secret' }), (json) => json.replaceAll('a-secret', '…'));
    expect((await other.search('')).records).toEqual([
      record(1, { problem: `${'x'.repeat(499)}\ufffd`, by: '…' }),
    ]);
    const cut = `${'x'.repeat(496)}a-secret`;
    await one.add(record(1, { problem: cut }), (json) => json.replaceAll('a-secret', '…'));
    expect((await other.search('a-se')).records).toEqual([]);
    for (let n = 2; n < 9; n += 1) await one.add(record(n));
    // All of one millisecond.
    const ids = (await other.search('task')).records.map(({ taskId }) => taskId);
    expect(ids).toEqual([8, 7, 6, 5, 4, 3, 2, 1, 1].map((n) => `task-${n}`));
    vi.setSystemTime(Date.now() + 90 * 86_400_000 + 1_000);
    expect((await other.search('')).records).toEqual([]);
  });

  it('has one refusal of a person and an action in an hour, so that those who may do nothing fill no store', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const { one } = two();
    const refused = (by: string, action: 'cancel' | 'erase' = 'cancel') =>
      one.add(record(1, { by, action }), undefined, true);
    for (let n = 0; n < 20; n += 1) await refused('Eve');
    await refused('Eve', 'erase');
    await refused('Bob');
    for (let n = 0; n < 2; n += 1) await one.add(record(1, { by: 'Eve' }));
    expect((await one.search('')).records).toHaveLength(5);
    vi.setSystemTime(Date.now() + 3_600_000);
    await refused('Eve');
    expect((await one.search('')).records).toHaveLength(6);
  });

  it('that cannot be kept fails no action, and that of another version is shown by its name', async () => {
    const tasks = change(opened(temporaryFolder()), {
      putRecord: () => async () => {
        throw new Error('Away');
      },
    });
    await activityOf(undefined, { tasks, queue: 'show' }).add(record(1));
    const { one } = two();
    await one.add(record(1, { action: 'dance' as 'send' }));
    expect((await one.search('dance')).records).toHaveLength(1);
  });
});
