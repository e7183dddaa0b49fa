import assert from 'node:assert/strict';
import { section } from '../../fixture/check.ts';
import { ignoringUncaught, refuses, subscribe, subscribeAll, within } from '../../fixture/expectations.ts';
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
    const log = logOf(store);
    await log.create();
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
    const log = logOf(store);
    await log.create();
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
    const log = logOf(store);
    await log.create();
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
