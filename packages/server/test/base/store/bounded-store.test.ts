import type { Commit, PushConfigStore, TaskStore } from '@batonjs/store';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it } from 'vitest';
import { boundedStore } from '../../../src/base/store/store-outage.ts';
import { type Clock, systemClock } from '../../../src/base/timing/clock.ts';

type Method = keyof (TaskStore & PushConfigStore);

/** Those without a time limit, and members that are no methods. */
const others = ['prune', 'close', 'schedules', 'system', 'isPrivate', 'transfer'];
const methods = Object.keys({ ...memoryStore(), probe: true }).filter(
  (name) => !others.includes(name),
) as Method[];

/** A store whose methods all do the same. */
function storeThat(answer: (method: string, args: unknown[]) => unknown): TaskStore & PushConfigStore {
  const names = Object.keys({ ...memoryStore(), probe: true });
  const store = names.map((name) => [name, (...args: unknown[]) => answer(name, args)]);
  return Object.fromEntries(store) as TaskStore & PushConfigStore;
}

const call = (store: object, method: string, ...args: unknown[]) =>
  (store as Record<string, (...args: unknown[]) => Promise<unknown>>)[method]!(...args);

/** A clock on which every time limit is over at once. */
function rushed(): Clock {
  let now = 0;
  const sleep = async (ms: number) => {
    now += ms;
  };
  return { ...systemClock, monotonic: () => now, sleep };
}

describe('A bounded store', () => {
  it.each([...methods, 'prune', 'close'])(
    'passes %s on, with every argument, and its answer',
    async (method) => {
      const args = Array.from({ length: 5 }, (_, n) => ({ argument: n }));
      const store = storeThat(async (name, given) => [name, ...given]);
      const bounded = boundedStore(store, 1_000, systemClock);
      expect(await call(bounded, method, ...args)).toEqual([method, ...args]);
    },
  );

  it.each(methods)('rejects %s if it is not answered in time', async (method) => {
    const store = storeThat(() => new Promise(() => {}));
    const bounded = boundedStore(store, 700, rushed());
    await expect(call(bounded, method)).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: 'The store did not answer within 700 ms',
    });
  });

  it.each(methods)('rejects %s if it throws', async (method) => {
    const store = storeThat(() => {
      throw new Error('thrown');
    });
    await expect(call(boundedStore(store, 700, systemClock), method)).rejects.toThrow('thrown');
  });

  it('makes no promise of what a store answers at once, and hears of it', () => {
    const heard: string[] = [];
    const watch = { answered: () => void heard.push('answered'), failed: () => void heard.push('failed') };
    const committed = { version: 1 };
    const store: TaskStore = { ...memoryStore(), commit: () => committed };
    const bounded = boundedStore(store, 1_000, systemClock, watch);
    expect(bounded.commit({} as Commit)).toBe(committed);
    expect(heard).toEqual(['answered']);
  });

  it('ends a subscription that comes too late', async () => {
    const ended = Promise.withResolvers<void>();
    const made = Promise.withResolvers<() => Promise<void>>();
    const bounded = boundedStore(storeThat(() => made.promise) as TaskStore, 700, rushed());
    await expect(bounded.subscribe({ queue: 'q' }, () => {})).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    made.resolve(async () => {
      ended.resolve();
      throw new Error('The connection is gone');
    });
    await ended.promise;
  });

  it('keeps webhooks and can be probed only if the store can', () => {
    const whole = memoryStore();
    const { commit, load, readFacts, list, subscribe, claim, renew, waiting, prune, ping, identity, close } =
      whole;
    const { getRecord, putRecord, deleteRecord, listRecords } = whole;
    const reading = { load, readFacts, list, subscribe, waiting, ping, identity, getRecord, listRecords };
    const tasks = { ...reading, commit, claim, renew, prune, close, putRecord, deleteRecord };
    expect(Object.keys(boundedStore(tasks, 1, systemClock)).sort()).toEqual(Object.keys(tasks).sort());
    const both = memoryStore();
    expect(Object.keys(boundedStore(both, 1, systemClock)).sort()).toEqual(Object.keys(both).sort());
  });

  it('has what a class has, as that has it', async () => {
    class Store {
      readonly system = 'own';
      #answer = 'answer';
      identity = async () => this.#answer;
      async ping() {
        return this.#answer;
      }
    }
    const bounded = boundedStore(new Store() as never, 1_000, systemClock);
    expect([bounded.system, await bounded.ping(), await bounded.identity()]).toEqual([
      ...['own', 'answer', 'answer'],
    ]);
  });
});
