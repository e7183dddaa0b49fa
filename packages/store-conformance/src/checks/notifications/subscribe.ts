import assert from 'node:assert/strict';
import type { StoredFact, TaskStore } from '@batonjs/store';
import { type Fixture, section } from '../../fixture/check.ts';
import {
  each,
  ignoringUncaught,
  override,
  refuses,
  same,
  subscribe,
  subscribeAll,
  within,
} from '../../fixture/expectations.ts';
import { follow } from '../../fixture/follow.ts';
import { chunk, completed, received } from '../../samples/facts.ts';
import { logOf } from '../../samples/log.ts';
import { claim } from '../../samples/turns.ts';

const topic = { scope: 's', taskId: 't' };

export const subscribeChecks = section('subscribe', {
  async 'notifies after a commit to the task'(fixture) {
    const { store } = fixture;
    const log = logOf(store);
    const subscriber = await subscribe(store, topic, fixture);
    await log.create();
    await subscriber.next('the first commit');
    await log.commit([chunk(1)]);
    await subscriber.next('the second commit');
    await log.append(chunk(2));
    await subscriber.next('an append');
    await log.catchUp();
    await log.commit([completed()]);
    await subscriber.next('the commit that closes the log');
    await subscriber.stop();
  },

  async 'notifies after a commit through another handle'(fixture) {
    const { store, second } = fixture;
    await logOf(store).create();
    const both = await subscribeAll([store, second], topic, fixture);
    await logOf(second).append(chunk(1));
    await both.next('an append by the second handle');
    await logOf(store).append(chunk(2));
    await both.next('an append by the first handle');
    await both.stop();
  },

  async 'notifies when the commit can be read'(fixture) {
    const { store, second } = fixture;
    const log = await logOf(store).started();
    // There may be more notifications than commits: one of them must come when the commit can be read.
    const isRead = Promise.withResolvers<void>();
    const unsubscribe = await second.subscribe(topic, async () => {
      const facts = await second.readFacts('s', 't', 0, 100);
      if (facts.length === 3) isRead.resolve();
    });
    await log.commit([chunk(1)]);
    const complaint = 'No subscriber was notified when the commit could be read';
    await within(fixture.timeoutMs, isRead.promise, complaint);
    await unsubscribe();
  },

  async 'notifies every subscriber'(fixture) {
    const ten = await subscribeAll(Array(10).fill(fixture.store), topic, fixture);
    await logOf(fixture.store).create();
    await ten.next('the first commit');
    await ten.stop();
  },

  async 'notifies a function that subscribed twice until the second subscription ends'({ store, timeoutMs }) {
    let notifications = 0;
    const notify = () => {
      notifications++;
    };
    const first = await store.subscribe(topic, notify);
    const second = await store.subscribe(topic, notify);
    await first();
    const last = await subscribe(store, topic, { timeoutMs });
    await logOf(store).create();
    await last.next('the first commit');
    assert.ok(notifications > 0);
    await second();
    await last.stop();
  },

  async 'is silent after unsubscribe'(fixture) {
    const { store } = fixture;
    const stopped = await subscribe(store, topic, fixture);
    const other = await subscribe(store, topic, fixture);
    await stopped.stop();
    await stopped.stop();
    const log = await logOf(store).started();
    await other.next('the first commit');
    await log.commit([chunk(1)]);
    await other.next('the second commit');
    assert.equal(stopped.notifications(), 0);
    await other.stop();
  },

  async 'notifies a queue when a task wants a turn: by a commit, an append, a release'(fixture) {
    const { store, second } = fixture;
    for (const [queue, handle] of Object.entries({ near: store, far: second })) {
      const log = logOf(store, { taskId: queue, queue });
      const subscriber = await subscribe(handle, { queue }, fixture);
      await log.create({ turn: { queue, want: true } });
      await subscriber.next('a commit that wants a turn');
      const [lease] = await claim(store, `h ${queue}`, { queue });
      await log.commit([], { writer: lease, turn: { queue, release: true, want: true } });
      await subscriber.next('a release that wants another turn');
      await claim(store, `i ${queue}`, { queue });
      await log.commit([], { turn: { queue, release: true } });
      await log.append(received('m2'), 'message:m2', { turn: { queue, want: true } });
      await subscriber.next('an append that wants a turn');
      await subscriber.stop();
    }
  },

  async 'notifies of the commit after one that it refused'(fixture) {
    const { store } = fixture;
    const log = await logOf(store).started();
    const late = log.prepare([chunk(1)]);
    await log.commit([chunk(1)]);
    const before = await subscribe(store, topic, fixture);
    await refuses('VERSION_CONFLICT', store.commit(late));
    const after = await subscribe(store, topic, fixture);
    await log.commit([chunk(2)]);
    await after.next('the commit after a refused one');
    await before.next('the commit after a refused one');
    await before.stop();
    await after.stop();
  },

  async 'stores the commit and notifies the others if a subscriber throws'(fixture) {
    const { store, second } = fixture;
    const log = logOf(store);
    await ignoringUncaught(async () => {
      for (const handle of [store, second]) {
        const before = await subscribe(handle, topic, fixture);
        const stop = await handle.subscribe(topic, () => {
          throw new Error('A subscriber failed');
        });
        const after = await subscribe(handle, topic, fixture);
        if (log.version === 0) await log.create();
        else await log.commit([chunk(1)]);
        for (const subscriber of [before, after]) await subscriber.next('a commit');
        await stop();
        for (const subscriber of [before, after]) await subscriber.stop();
      }
    });
    assert.equal((await store.load('s', 't'))?.version, 3);
  },
});

/** Follows by notifications alone until that position. */
async function collect(
  { timeoutMs }: Fixture,
  store: TaskStore,
  after: number,
  until: number,
): Promise<StoredFact[]> {
  const seen: StoredFact[] = [];
  const stop = new AbortController();
  const facts = follow(store, 's', 't', after, { signal: stop.signal, batch: 7 });
  const reading = (async () => {
    for await (const fact of facts) {
      seen.push(fact);
      if (fact.version === until) break;
    }
    return seen;
  })();
  return within(4 * timeoutMs, reading, `A follower did not come to position ${until}`).finally(() =>
    stop.abort(),
  );
}

export const followChecks = section('follow', {
  async 'shows every follower every fact once and in order while many write'(fixture) {
    const { store, second } = fixture;
    await logOf(store).create();
    const last = 2 + 60;
    const followers = [store, second, store, second].map((handle, n) =>
      collect(fixture, handle, n < 2 ? 0 : 2, last),
    );
    const write = async (handle: TaskStore, writer: number) => {
      const log = logOf(handle);
      for (let n = 0; n < 15; n++) await log.append(chunk(100 * writer + n));
    };
    const [seen] = await Promise.all([Promise.all(followers), ...[store, second, store, second].map(write)]);
    const stored = await store.readFacts('s', 't', 0, 1_000);
    for (const [n, facts] of seen.entries()) same(facts, stored.slice(n < 2 ? 0 : 2));
  },

  async 'notifies a follower of every commit, the first of a log too'(fixture) {
    const { store, second, timeoutMs } = fixture;
    const log = logOf(store);
    const { noticing, idle } = noticingIdle(second);
    const commits = async () => {
      for (let n = 0; n < 4; n++) {
        await within(timeoutMs, idle(2 * n), 'A follower did not read on');
        if (n === 0) await log.create();
        else await log.commit([chunk(2 * n - 1), chunk(2 * n)]);
      }
    };
    const [seen] = await Promise.all([collect(fixture, noticing, 0, 8), commits()]);
    same(each(seen, 'version'), [1, 2, 3, 4, 5, 6, 7, 8]);
  },
});

/** A store, and a promise for each position that resolves once a reader found no facts after it. */
function noticingIdle(store: TaskStore) {
  const moments = new Map<number, PromiseWithResolvers<void>>();
  const moment = (position: number) => {
    const known = moments.get(position) ?? Promise.withResolvers<void>();
    moments.set(position, known);
    return known;
  };
  const noticing = override(store, {
    async readFacts(scope, taskId, after, limit) {
      const facts = await store.readFacts(scope, taskId, after, limit);
      if (facts.length === 0) moment(after).resolve();
      return facts;
    },
  });
  return { noticing, idle: (position: number) => moment(position).promise };
}
