import type { TaskStore } from '@batonjs/store';
import { expect, it } from 'vitest';
import { Retention } from '../../../src/base/store/retention.ts';

/** What a process does that deletes tasks, on a clock that moves only while it deletes and sleeps. */
async function deleting(took: readonly number[], renewed = true, last = 9) {
  let time = 1_000;
  const slept: number[] = [];
  const renewals: number[] = [];
  const left = [...took];
  let calls = 0;
  const isIdle = Promise.withResolvers<void>();
  /** No timer ends a loop of calls that resolve at once. */
  const counted = async () => {
    if (++calls <= 100) return;
    isIdle.reject(new Error('It does not end'));
    await new Promise(() => {});
  };
  const store = {
    async putRecord(name: string, revision: number, _: unknown, { ttlMs }: { ttlMs: number }) {
      await counted();
      expect(name).toBe('retention');
      if (revision > 0) renewals.push(ttlMs);
      return revision === 0 || renewed ? revision + 1 : undefined;
    },
    async prune({ limit }: { limit: number }) {
      await counted();
      time += left.shift() ?? 0;
      return left.length > 0 ? limit : last;
    },
  };
  const clock = {
    ...{ now: () => 0, monotonic: () => time, random: () => 0.5 },
    sleep(ms: number) {
      slept.push(ms);
      time += ms;
      if (ms < 10_000) return Promise.resolve();
      isIdle.resolve();
      return new Promise<void>(() => {});
    },
  };
  const lines: unknown[][] = [];
  const source = {
    store: store as unknown as TaskStore,
    clock,
    logger: (...line: unknown[]) => lines.push(line),
    report: () => {},
  };
  new Retention(source as never, { closedAfterMs: 1, batch: 10 }).start();
  await isIdle.promise;
  return { slept, renewals, line: lines[0] };
}

it('pauses four times as long as a deletion took, for 5 ms to a second, and a minute after all', async () => {
  const { slept, line, renewals } = await deleting([0, 1, 2, 100, 249, 251, 3]);
  expect(slept).toEqual([5, 5, 8, 400, 996, 1_000, 60_000]);
  expect(line).toEqual(['info', 'Old tasks were deleted', { deleted: 69 }]);
  expect(renewals).toEqual([]);
});

it('renews its right when a third of it is over, and ends when another process has it', async () => {
  // The right lasts for 45 s.
  expect((await deleting([14_000, 0, 9_000, 0])).renewals).toEqual([45_000]);
  const { renewals, line } = await deleting([14_000, 10_000, 0], false);
  expect([renewals, line?.[2]]).toEqual([[45_000], { deleted: 20 }]);
});

it('says nothing where there was nothing to delete', async () => {
  const { slept, line } = await deleting([0], true, 0);
  expect([slept, line]).toEqual([[60_000], undefined]);
});
