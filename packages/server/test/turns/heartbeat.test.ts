import type { Lease, TaskStore } from '@batonjs/store';
import { memoryStore } from '@batonjs/store-memory';
import { expect, it, vi } from 'vitest';
import { change, unavailable } from '../../../../test/kit/faulty-store.ts';
import { chunkAfter } from '../../../../test/kit/task-logs.ts';
import { type Held, heartbeatOf } from '../../src/turns/heartbeat.ts';
import type { TurnDependencies } from '../../src/turns/turn-dependencies.ts';

const leaseMs = 900;

/** A heartbeat on a clock that only the test moves. */
function beating(store: TaskStore) {
  let time = 5_000;
  const sleeping = new Set<{ until: number; wake: () => void }>();
  const errors: string[] = [];
  const clock = {
    monotonic: () => time,
    sleep: (ms: number, signal?: AbortSignal) =>
      new Promise<void>((resolve) => {
        const sleeper = { until: time + ms, wake: resolve };
        sleeping.add(sleeper);
        signal?.addEventListener('abort', () => {
          sleeping.delete(sleeper);
          resolve();
        });
      }),
  };
  const report = (message: string) => errors.push(message);
  const dependencies = { store, clock, report, options: { timeouts: { leaseMs } } };
  return {
    heartbeat: heartbeatOf(dependencies as unknown as TurnDependencies),
    errors,
    now: () => time,
    pass(ms: number) {
      time += ms;
      for (const sleeper of sleeping) {
        if (sleeper.until > time) continue;
        sleeping.delete(sleeper);
        sleeper.wake();
      }
    },
  };
}

/** A lease of a task that the store has. */
async function lease(store: TaskStore, taskId: string): Promise<Lease> {
  const { lease } = await store.commit(
    chunkAfter(0, {
      taskId,
      commitId: taskId,
      turn: { queue: 'q', acquire: { holder: `of ${taskId}`, ttlMs: 3_600_000 } },
    }),
  );
  return lease!;
}

const hold = (lease: Lease, heldUntil: number) =>
  ({ lease, heldUntil, lost: vi.fn() }) satisfies Held & { lost: unknown };

it('a lease that the store renews is sure from when it was asked; one that it does not renew is lost', async () => {
  const memory = memoryStore();
  const asked: (readonly string[])[] = [];
  const store = change(memory, {
    renew: (renew) => async (leases, ttlMs) => {
      asked.push(leases.map(({ taskId }) => taskId));
      const kept = await renew(leases, ttlMs);
      // The answer takes a while.
      bench.pass(100);
      return kept;
    },
  });
  const bench = beating(store);
  const kept = hold(await lease(memory, 'kept'), bench.now() + leaseMs);
  const gone = hold({ ...(await lease(memory, 'gone')), fence: 7 }, bench.now() + leaseMs);
  const places = [bench.heartbeat.add(kept), bench.heartbeat.add(gone)];
  const before = bench.now();
  bench.pass(leaseMs / 3);
  await vi.waitFor(() => expect(gone.lost).toHaveBeenCalledTimes(1));
  expect(kept.lost).not.toHaveBeenCalled();
  expect(kept.heldUntil).toBe(before + leaseMs / 3 + leaseMs);
  expect(gone.heldUntil).toBe(before + leaseMs);
  await vi.waitFor(() => {
    bench.pass(leaseMs / 3);
    expect(asked.length).toBeGreaterThan(1);
  });
  // A lost lease is not renewed again.
  expect(asked.slice(0, 2)).toEqual([['kept', 'gone'], ['kept']]);
  for (const place of places) bench.heartbeat.remove(place);
});

it('a lease that was given back while the store was asked is not lost', async () => {
  const memory = memoryStore();
  const answer = Promise.withResolvers<void>();
  const wasAsked = Promise.withResolvers<void>();
  const store = change(memory, {
    renew: () => async () => {
      wasAsked.resolve();
      await answer.promise;
      return [];
    },
  });
  const bench = beating(store);
  const returned = hold(await lease(memory, 'returned'), bench.now() + leaseMs);
  const lost = hold(await lease(memory, 'lost'), bench.now() + leaseMs);
  const place = bench.heartbeat.add(returned);
  bench.heartbeat.add(lost);
  bench.pass(leaseMs / 3);
  await wasAsked.promise;
  bench.heartbeat.remove(place);
  answer.resolve();
  await vi.waitFor(() => expect(lost.lost).toHaveBeenCalled());
  expect(returned.lost).not.toHaveBeenCalled();
});

it('a store that cannot be asked loses no lease, and is asked again sooner', async () => {
  const memory = memoryStore();
  let attempts = 0;
  const store = change(memory, {
    renew: (renew) => async (leases, ttlMs) => {
      if (++attempts <= 2) throw unavailable();
      return renew(leases, ttlMs);
    },
  });
  const bench = beating(store);
  const held = hold(await lease(memory, 'held'), bench.now() + leaseMs);
  const place = bench.heartbeat.add(held);
  const began = bench.now();
  bench.pass(leaseMs / 3);
  for (const count of [1, 2]) {
    await vi.waitFor(() => expect(bench.errors).toHaveLength(count));
    // Only now does it sleep again.
    await new Promise((resolve) => setImmediate(resolve));
    bench.pass(leaseMs / 10);
  }
  await vi.waitFor(() => expect(held.heldUntil).toBe(began + leaseMs / 3 + leaseMs / 5 + leaseMs));
  expect([attempts, held.lost.mock.calls.length]).toEqual([3, 0]);
  expect(bench.errors).toEqual(['Could not renew leases', 'Could not renew leases']);
  bench.heartbeat.remove(place);
});

it('leases are renewed before others are claimed if that is overdue, and only then', async () => {
  const memory = memoryStore();
  let renewals = 0;
  let isDown = false;
  const store = change(memory, {
    renew: (renew) => async (leases, ms) => {
      renewals++;
      if (isDown) throw unavailable();
      return renew(leases, ms);
    },
  });
  const { heartbeat, now, pass } = beating(store);
  expect([await heartbeat.catchUp(), renewals]).toEqual([true, 0]);
  const held = hold(await lease(store, 'one'), now() + leaseMs);
  heartbeat.add(held);
  expect([await heartbeat.catchUp(), renewals]).toEqual([true, 0]);
  pass(leaseMs / 3 - 1);
  expect([await heartbeat.catchUp(), renewals]).toEqual([true, 0]);
  isDown = true;
  pass(leaseMs / 3);
  expect(await heartbeat.catchUp()).toBe(false);
  isDown = false;
  const before = renewals;
  expect(await heartbeat.catchUp()).toBe(true);
  expect(renewals).toBe(before + 1);
  expect(held.heldUntil).toBe(now() + leaseMs);
  expect([await heartbeat.catchUp(), renewals]).toEqual([true, before + 1]);
});

it('a lease that is confirmed is renewed, and one that another process took is lost', async () => {
  const store = memoryStore();
  const { heartbeat, now } = beating(store);
  const known = await lease(store, 'one');
  const held = hold(known, now());
  await heartbeat.confirm(held);
  expect([held.heldUntil, held.lost]).toEqual([now() + leaseMs, held.lost]);
  expect(held.lost).not.toHaveBeenCalled();
  const taken = hold({ ...known, fence: known.fence - 1 }, now());
  await heartbeat.confirm(taken);
  expect(taken.lost).toHaveBeenCalledOnce();
  expect(taken.heldUntil).toBe(now());
});

it.each([
  ['the fence', { fence: 7 }],
  ['the holder', { holder: 'another' }],
])('a lease that surely lives is read and not renewed: it is lost if %s is another', async (_, other) => {
  const memory = memoryStore();
  const store = change(memory, { renew: () => () => expect.unreachable() });
  const { heartbeat, now } = beating(store);
  const known = await lease(memory, 'one');
  const held = hold(known, now() + leaseMs);
  await heartbeat.confirm(held);
  expect([held.heldUntil, held.lost.mock.calls.length]).toEqual([now() + leaseMs, 0]);
  const taken = hold({ ...known, ...other }, now() + leaseMs);
  await heartbeat.confirm(taken);
  expect(taken.lost).toHaveBeenCalledOnce();
});

it('a store that does not answer is asked again, and its answer is not waited for', async () => {
  const memory = memoryStore();
  let asked = 0;
  const store = change(memory, {
    renew:
      (renew) =>
      (...given) =>
        asked++ === 0 ? new Promise<never>(() => {}) : renew(...given),
  });
  const { heartbeat, errors, pass } = beating(store);
  const held = hold(await lease(memory, 't'), 0);
  heartbeat.add(held);
  for (let n = 0; n < 9; n++) {
    pass(leaseMs / 9);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect([errors, asked > 1, held.heldUntil > 0]).toEqual([['Could not renew leases'], true, true]);
});
