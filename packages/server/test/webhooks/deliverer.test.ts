import type { PushConfig } from '@batonjs/store';
import { describe, expect, it, onTestFinished } from 'vitest';
import { change } from '../../../../test/kit/faulty-store.ts';
import { eventually } from '../../../../test/kit/until.ts';
import { peersFor } from '../../src/base/store/peers.ts';
import { delivererOf } from '../../src/webhooks/deliverer.ts';
import type { PushConfigName } from '../../src/webhooks/hosts/failing-webhooks.ts';
import type { PushOptions } from '../../src/webhooks/webhooks.ts';
import { push } from './kit/push-config.ts';
import { begin, delivering, keep, received, status } from './kit/stored-task.ts';
import { type Reaction, webhook } from './kit/webhook.ts';

type Bench = ReturnType<typeof delivering>;
type Store = Bench['store'];

/** A deliverer until the test ends, on a clock that stands still, with what it asked of its store. */
function delivererOn(options: PushOptions = {}, faults: Partial<Store> = {}, random?: number) {
  const bench = delivering(options, random === undefined ? {} : { random });
  const { store } = bench;
  const limits: number[] = [];
  const hurried: (readonly PushConfigName[])[] = [];
  const watched = change(store, {
    claimDeliveries: (claim) => (request) => {
      limits.push(request.limit);
      return (faults.claimDeliveries ?? claim)(request);
    },
    retryNow: (retry) => (names) => {
      hurried.push(names);
      return retry(names);
    },
    advance: (advance) => faults.advance ?? advance,
    readFacts: (read) => faults.readFacts ?? read,
    listRecords: (list) => faults.listRecords ?? list,
    subscribe: (subscribe) => faults.subscribe ?? subscribe,
  });
  const { dependencies } = bench;
  const deliverer = delivererOf({
    ...dependencies,
    store: watched,
    push: {
      ...dependencies.push,
      store: watched,
      peers: options.sign && peersFor('q', { name: 'p', options: {} }, { ...dependencies, store: watched }),
    },
  });
  onTestFinished(() => deliverer.close(0));
  return { ...bench, deliverer, limits, hurried };
}

/** A log with one update for these webhooks. */
const updated = (store: Store, webhooks: readonly Partial<PushConfig>[], taskId?: string) =>
  keep(store, [received, status()], webhooks, taskId);
const many = (count: number, url: string, more: Partial<PushConfig> = {}) =>
  Array.from({ length: count }, (_, n) => push(url, `w${n}`, { cursor: 0, ...more }));
const unset = (store: Store) => store.listPushConfigs('s', 't', { limit: 1_000 });
/** Resolves to the webhooks once so many of them wait for another attempt. */
const waiting = (store: Store, count: number) =>
  eventually(async () => {
    const found = (await unset(store)).filter(({ retryAt }) => retryAt !== undefined);
    expect(found).toHaveLength(count);
    return found;
  });

/** A webhook whose answers are given one by one. */
async function held() {
  const answers: ((status: number) => void)[] = [];
  const hold: Reaction = (response) => {
    answers.push((status) => response.writeHead(status).end());
  };
  const hook = await webhook(() => hold);
  const arrived = (count: number) => eventually(() => expect(answers.length).toBeGreaterThanOrEqual(count));
  return { hook, answers, arrived };
}

describe('a deliverer', () => {
  it('delivers what it finds, and what it is notified of, while no time passes', async () => {
    const hook = await webhook();
    const { deliverer, store, sleeps, limits, hurried } = delivererOn();
    await updated(store, many(1, hook.url()));
    deliverer.start();
    await hook.until(1);
    await eventually(() => expect(sleeps).toContain(1_000));
    expect(limits).toEqual([32]);
    await updated(store, many(1, hook.url()), 'u');
    await hook.until(2);
    expect(hurried).toEqual([]);
  });

  it.each([
    [0.2, 850],
    [0, 750],
  ])('polls at intervals that are random around the planned one: %d', async (random, interval) => {
    const { deliverer, sleeps } = delivererOn({}, {}, random);
    deliverer.start();
    await eventually(() => expect(sleeps).toEqual([interval]));
  });

  it('claims 32 at a time, again at once while there may be more, and no more than may run', async () => {
    const hook = await webhook();
    const { deliverer, store, limits } = delivererOn();
    await updated(store, many(40, hook.url()));
    deliverer.start();
    await hook.until(40);
    expect(limits.slice(0, 2)).toEqual([32, 32]);
    const few = delivererOn({ concurrency: 3 });
    few.deliverer.start();
    expect(few.limits).toEqual([3]);
  });

  it('claims again when a place is free, and not while there is none', async () => {
    const { hook, answers, arrived } = await held();
    const other = await held();
    const { deliverer, store, limits } = delivererOn({ concurrency: 1 });
    await updated(store, [push(hook.url(), 'a', { cursor: 0 })]);
    deliverer.start();
    await arrived(1);
    await updated(store, [push(other.hook.url(), 'b', { cursor: 0 })], 'u');
    expect(limits).toEqual([1]);
    answers[0]!(200);
    await other.arrived(1);
  });

  it('puts a delivery off, by a random part of the poll interval, whose host has its share', async () => {
    const { hook, answers, arrived } = await held();
    const { deliverer, store, pass } = delivererOn(
      { concurrency: 2, retry: { baseDelayMs: 4_000 } },
      {},
      0.25,
    );
    await updated(store, many(2, hook.url()));
    deliverer.start();
    await arrived(1);
    const [off] = await waiting(store, 1);
    expect(off).toMatchObject({ attempts: 0, retryAt: new Date(begin + 250).toISOString() });
    answers[0]!(200);
    await eventually(async () => expect(await unset(store)).toMatchObject([{ cursor: 2 }, { cursor: 0 }]));
    pass(250);
    expect(answers).toHaveLength(1);
    pass(1);
    await arrived(2);
  });

  it('puts a delivery off for longer while its host fails, and hurries it when the host answers', async () => {
    const { hook, answers, arrived } = await held();
    const { deliverer, store, hurried } = delivererOn({ concurrency: 4 });
    await updated(store, many(3, hook.url()));
    deliverer.start();
    await arrived(2);
    // The third one has no place: 500 ms.
    await waiting(store, 1);
    answers[0]!(503);
    await waiting(store, 2);
    await updated(store, many(1, hook.url()), 'u');
    await arrived(3);
    await updated(store, many(1, hook.url()), 'v');
    await eventually(async () => {
      const put = await store.getPushConfig('s', 'v', 'w0');
      // After one failure as if it were the second attempt: a random part of two seconds.
      expect(put).toMatchObject({ attempts: 0, retryAt: new Date(begin + 1_000).toISOString() });
    });
    answers[1]!(200);
    await eventually(() => expect(hurried.flat()).toHaveLength(2));
    const ids = hurried.flat().map(({ taskId, id }) => `${taskId} ${id}`);
    expect(ids).toEqual([expect.stringMatching(/^t w[01]$/), 'v w0']);
  });

  it('hurries a hundred webhooks in one call of the store', async () => {
    const hook = await webhook();
    const { deliverer, store, hurried } = delivererOn();
    // Without a format they fail before any request.
    await updated(store, many(101, hook.url(), { protocolVersion: '9' }));
    deliverer.start();
    await waiting(store, 101);
    await updated(store, [push(hook.url(), 'w', { cursor: 0 })], 'u');
    await eventually(() => expect(hurried.flat()).toHaveLength(101));
    expect(hurried.map((names) => names.length)).toEqual([100, 1]);
  });

  it('tries again when the time has come, though that is before the next poll', async () => {
    const hook = await webhook((_, before) => (before === 0 ? 503 : 200));
    const { deliverer, store, pass, sleeps } = delivererOn();
    await updated(store, many(1, hook.url()));
    deliverer.start();
    await waiting(store, 1);
    await eventually(() => expect(sleeps).toContain(501));
    pass(500);
    expect(hook.received).toHaveLength(1);
    pass(1);
    await hook.until(1);
    // Later than the next poll: that will find it.
    const later = await webhook(() => 503);
    const retry = { baseDelayMs: 2_000 };
    const slow = delivererOn({ retry });
    await updated(slow.store, many(1, later.url()));
    slow.deliverer.start();
    await waiting(slow.store, 1);
    await eventually(() => expect(slow.sleeps).toContain(1_000));
    expect(slow.sleeps).not.toContain(1_001);
  });
});

describe('a deliverer whose store fails', () => {
  const error = new Error('It cannot be reached');
  const fail = () => Promise.reject(error);

  it('logs that it cannot subscribe, and polls', async () => {
    const hook = await webhook();
    const { deliverer, store, log, pass, sleeps } = delivererOn({}, { subscribe: fail });
    deliverer.start();
    await eventually(() => expect(sleeps).toEqual([1_000]));
    expect(log).toEqual([['Could not subscribe to the queue', { queue: 'q', error }]]);
    await updated(store, many(1, hook.url()));
    expect(hook.received).toEqual([]);
    pass(1_000);
    await hook.until(1);
    await deliverer.close(0);
  });

  it('logs that it cannot claim, and claims again at the next poll', async () => {
    const { deliverer, log, pass, limits, sleeps } = delivererOn({}, { claimDeliveries: fail });
    deliverer.start();
    await eventually(() => expect(sleeps).toEqual([1_000]));
    expect(log).toEqual([['Could not claim deliveries', { error }]]);
    pass(1_000);
    await eventually(() => expect(limits).toHaveLength(2));
  });

  it('logs that it cannot record a delivery, and gives its place to the next one', async () => {
    const hook = await webhook();
    const { deliverer, store, log } = delivererOn({ concurrency: 1 }, { advance: fail });
    await updated(store, many(2, hook.url()));
    deliverer.start();
    await hook.until(2);
    const message = 'Could not record a delivery';
    await eventually(() =>
      expect(log).toEqual(['w0', 'w1'].map((configId) => [message, { taskId: 't', configId, error }])),
    );
  });

  it.each<[string, keyof Store, PushOptions]>([
    ['read the log', 'readFacts', {}],
    ['record the outcome', 'advance', {}],
    ['ask who else may deliver', 'listRecords', { allow: [], sign: () => ({}) }],
  ])(
    'gives a claim back with which it could not %s, instead of keeping it to its end',
    async (_, call, options) => {
      const hook = await webhook();
      const faults: Partial<Store> = {
        [call]() {
          delete faults[call];
          return fail();
        },
      };
      const { deliverer, store, log } = delivererOn(options, faults);
      await updated(store, [push(hook.url(), 'w', { cursor: 0, attempts: 3 })]);
      deliverer.start();
      const [back] = await waiting(store, 1);
      expect(back).toMatchObject({ cursor: 0, attempts: 0, retryAt: new Date(begin + 500).toISOString() });
      expect(log).toEqual([['Could not record a delivery', { taskId: 't', configId: 'w', error }]]);
    },
  );
});

describe('a deliverer that closes', () => {
  it('unsubscribes, and claims no more', async () => {
    const bench = delivering();
    let subscribed = 0;
    const subscribe: Store['subscribe'] = async (topic, notify) => {
      const unsubscribe = await bench.store.subscribe(topic, notify);
      subscribed++;
      return async () => {
        subscribed--;
        await unsubscribe();
      };
    };
    const { deliverer, limits, sleeps, pass } = delivererOn({}, { subscribe });
    deliverer.start();
    await eventually(() => expect([subscribed, sleeps.length]).toEqual([1, 1]));
    await deliverer.close(0);
    expect([subscribed, limits.length]).toEqual([0, 1]);
    pass(10_000);
    expect(limits).toHaveLength(1);
  });

  it('hands back what it is at when it may not wait', async () => {
    const { hook, arrived } = await held();
    const { deliverer, store } = delivererOn();
    await updated(store, many(1, hook.url()));
    deliverer.start();
    await arrived(1);
    await deliverer.close(0);
    expect(await unset(store)).toMatchObject([
      { cursor: 0, attempts: 0, retryAt: new Date(begin).toISOString() },
    ]);
  });

  it('waits for what it is at, and hands it back when its time is over', async () => {
    const { hook, arrived, answers } = await held();
    const { deliverer, store, pass, sleeps } = delivererOn({ timeoutMs: 60_000 });
    await updated(store, many(2, hook.url()));
    deliverer.start();
    await arrived(2);
    const closing = deliverer.close(5_000);
    await eventually(() => expect(sleeps).toContain(5_000));
    answers[0]!(200);
    pass(4_999);
    await eventually(async () => expect((await unset(store)).map(({ cursor }) => cursor)).toContain(2));
    pass(1);
    await closing;
    expect((await unset(store)).map(({ cursor }) => cursor).sort()).toEqual([0, 2]);
  });

  it('delivers what happens while it waits, and is over without having begun', async () => {
    const { hook, arrived, answers } = await held();
    const { deliverer, store, limits } = delivererOn();
    await updated(store, many(1, hook.url()));
    deliverer.start();
    await arrived(1);
    const closing = deliverer.close(5_000);
    await eventually(() => expect(limits).toHaveLength(2));
    await updated(store, many(1, hook.url()), 'u');
    answers[0]!(200);
    await arrived(2);
    answers[1]!(200);
    await closing;
    await delivererOf(delivering().dependencies).close(1);
  });

  it.each([
    ['delivers what is due if it may wait for that, and waits for nothing else', 60_000, 3],
    ['leaves what is due to others if it may not wait', 0, 1],
  ])('%s', async (_, graceMs, expected) => {
    const hook = await webhook();
    // It is not notified, and does not poll: no time passes.
    const subscribe: Store['subscribe'] = async () => async () => {};
    const { deliverer, store, sleeps } = delivererOn({}, { subscribe });
    await updated(store, many(1, hook.url()));
    deliverer.start();
    await hook.until(1);
    await eventually(() => expect(sleeps).toContain(1_000));
    await updated(store, many(2, hook.url()), 'u');
    await deliverer.close(graceMs);
    expect(hook.received).toHaveLength(expected);
  });
});
