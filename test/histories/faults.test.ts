import type { TaskStore } from '@batonjs/store';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it } from 'vitest';
import { chunk } from '../../packages/store-conformance/src/samples/facts.ts';
import { logOf } from '../../packages/store-conformance/src/samples/log.ts';
import { type Call, type Fault, type FaultRates, faultyStore, sabotage } from './faults.ts';

/** A random that can be repeated. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

const sleep = async () => {};
const always = () => 0;
const code = (answer: unknown) =>
  Promise.resolve(answer).then(
    () => 'done',
    (error) => error.code,
  );

/** Works on a few tasks through faults and notes what became of each call. */
async function work(store: TaskStore): Promise<string[]> {
  const outcomes = [];
  for (let n = 0; n < 60; n++) {
    const log = logOf(store, { taskId: `t${n % 3}` });
    outcomes.push(await code(n < 3 ? log.create() : log.append(chunk(n))));
    outcomes.push(await code(store.load('s', `t${n % 3}`)));
  }
  return outcomes;
}

describe('a faulty store', () => {
  it('does what the store under it does while nothing goes wrong', async () => {
    const outcomes = await work(faultyStore(memoryStore(), { random: numbers(1), sleep }));
    expect(new Set(outcomes)).toEqual(new Set(['done']));
  });

  it('fails before or after the store did it, with the same error', async () => {
    const plan = ({ method, count }: Call): Fault | undefined =>
      method === 'commit' ? { fail: count % 2 ? 'after' : 'before' } : undefined;
    const store = faultyStore(memoryStore(), { random: always, plan, sleep });
    expect(await code(logOf(store).create())).toBe('UNAVAILABLE');
    expect(await code(logOf(store).create())).toBe('UNAVAILABLE');
    expect((await store.load('s', 't'))?.version).toBe(2);
    expect(await code(logOf(store).create())).toBe('VERSION_CONFLICT');
  });

  it('makes the same faults from the same numbers, and others from others', async () => {
    const rates: FaultRates = { delay: 0.3, failBefore: 0.2, failAfter: 0.2 };
    const faultsOf = async (seed: number) => {
      const faults: unknown[] = [];
      const onFault = (call: Call, fault: Fault) => faults.push([call.method, call.count, fault]);
      const outcomes = await work(
        faultyStore(memoryStore(), { random: numbers(seed), rates, sleep, onFault }),
      );
      return { faults, outcomes };
    };
    const first = await faultsOf(7);
    expect(await faultsOf(7)).toEqual(first);
    expect(await faultsOf(8)).not.toEqual(first);
    expect(first.outcomes).toContain('UNAVAILABLE');
  });

  it('delays as long as it says, half before and half after', async () => {
    const slept: number[] = [];
    const store = faultyStore(memoryStore(), {
      random: always,
      plan: () => ({ delayMs: 10 }),
      sleep: async (ms) => void slept.push(ms),
    });
    await store.waiting('q');
    expect(slept).toEqual([5, 5]);
  });

  it.each([
    ['loses', { loseNotification: 1 }, 0],
    ['repeats', { repeatNotification: 1 }, 2],
    ['passes on', {}, 1],
  ] as const)('%s notifications', async (_, rates, expected) => {
    const store = faultyStore(memoryStore(), { random: always, rates, sleep });
    let notifications = 0;
    await store.subscribe({ scope: 's', taskId: 't' }, () => notifications++);
    await logOf(store).create();
    await Promise.resolve();
    expect(notifications).toBe(expected);
  });

  it('leaves no watcher behind when watching failed after it was done', async () => {
    const store = memoryStore();
    const faulty = faultyStore(store, { random: always, plan: () => ({ fail: 'after' }), sleep });
    let notifications = 0;
    expect(await code(faulty.subscribe({ scope: 's', taskId: 't' }, () => notifications++))).toBe(
      'UNAVAILABLE',
    );
    await logOf(store).create();
    expect(notifications).toBe(0);
  });

  it('can be made to behave', async () => {
    let active = true;
    const store = faultyStore(memoryStore(), {
      random: always,
      rates: { failBefore: 1, loseNotification: 1 },
      sleep,
      active: () => active,
    });
    expect(await code(store.waiting('q'))).toBe('UNAVAILABLE');
    active = false;
    expect(await code(store.waiting('q'))).toBe('done');
  });

  it('wraps the webhooks too, and never a close', async () => {
    const store = faultyStore(memoryStore(), { random: always, rates: { failBefore: 1 }, sleep });
    expect(await code(store.getPushConfig('s', 't', 'a'))).toBe('UNAVAILABLE');
    expect(await code(store.close())).toBe('done');
  });
});

describe('sabotage', () => {
  const held = { turn: { queue: 'q', acquire: { holder: 'h', ttlMs: 60_000 } } };
  const stranger = { writer: { fence: 9, holder: 'stranger' } };

  it('of the fence lets anybody write', async () => {
    const log = logOf(sabotage(memoryStore(), 'fence'));
    await log.create(held);
    expect((await log.commit([chunk(1)], stranger)).version).toBe(3);
  });

  it('of the version commits what was decided on a shorter log, with a head that fits', async () => {
    const store = sabotage(memoryStore(), 'cas');
    const log = logOf(store);
    await log.create(held);
    const late = log.prepare([chunk(2)]);
    await log.append(chunk(1));
    expect((await store.commit(late)).version).toBe(4);
    expect((await store.load('s', 't'))?.head).toMatchObject({ version: 4, statusVersion: 2 });
    expect(await code(store.commit({ ...late, ...stranger }))).toBe('FENCED');
  });

  it('of the commit ids leaves a writer without a trace', async () => {
    const log = logOf(sabotage(memoryStore(), 'commit-id'));
    await log.create({ commitId: 'mine' });
    expect((await log.load())?.facts[0]?.commitId).not.toBe('mine');
  });

  it('of notifications never notifies', async () => {
    const store = sabotage(memoryStore(), 'notification');
    let notifications = 0;
    await store.subscribe({ queue: 'q' }, () => notifications++);
    await logOf(store).create({ turn: { queue: 'q', want: true } });
    expect(notifications).toBe(0);
  });
});
