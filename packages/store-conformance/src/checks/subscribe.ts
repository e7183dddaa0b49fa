import assert from 'node:assert/strict';
import { type Bench, section } from '../bench/check.ts';
import { listen, refuses } from '../bench/expectations.ts';
import { chunk, completed, received } from '../samples/facts.ts';
import { logOf } from '../samples/log.ts';

const topic = { scope: 's', taskId: 't' };

export const subscribeChecks = section('subscribe', {
  async 'rings after a commit to the task'(bench) {
    const { store } = bench;
    const log = logOf(store);
    const bell = await listen(store, topic, bench);
    await log.create();
    await bell.next();
    await log.commit([chunk(1)]);
    await bell.next();
    await log.append(chunk(2));
    await bell.next();
    await log.catchUp();
    await log.commit([completed()]);
    await bell.next();
    await bell.stop();
  },

  async 'rings after a commit through another handle'(bench) {
    const { store, second } = bench;
    await logOf(store).create();
    const bells = [await listen(store, topic, bench), await listen(second, topic, bench)];
    await logOf(second).append(chunk(1));
    for (const bell of bells) await bell.next();
    await logOf(store).append(chunk(2));
    for (const bell of bells) await bell.next();
    for (const bell of bells) await bell.stop();
  },

  async 'shows whoever is woken what woke them'(bench) {
    const { store, second } = bench;
    const log = logOf(store);
    await log.create();
    let read: Promise<number> | undefined;
    const unsubscribe = await second.subscribe(topic, () => {
      read = second.readFacts('s', 't', 0, 100).then((facts) => facts.length);
    });
    const bell = await listen(second, topic, bench);
    await log.commit([chunk(1)]);
    await bell.next();
    assert.equal(await read, 3);
    await unsubscribe();
    await bell.stop();
  },

  async 'wakes everybody who watches'(bench) {
    const bells = [];
    for (let n = 0; n < 10; n++) bells.push(await listen(bench.store, topic, bench));
    await logOf(bench.store).create();
    for (const bell of bells) await bell.next();
    for (const bell of bells) await bell.stop();
  },

  async 'wakes the same function twice if it watches twice, until the last one stops'({ store, patienceMs }) {
    let rings = 0;
    const notify = () => {
      rings++;
    };
    const first = await store.subscribe(topic, notify);
    const second = await store.subscribe(topic, notify);
    await first();
    const last = await listen(store, topic, { patienceMs } as Bench);
    await logOf(store).create();
    await last.next();
    assert.ok(rings > 0);
    await second();
    await last.stop();
  },

  async 'is silent after unsubscribe'(bench) {
    const { store } = bench;
    const stopped = await listen(store, topic, bench);
    const other = await listen(store, topic, bench);
    await stopped.stop();
    await stopped.stop();
    const log = logOf(store);
    for (let n = 0; n < 2; n++) {
      if (n) await log.commit([chunk(n)]);
      else await log.create();
      await other.next();
    }
    assert.equal(stopped.rings(), 0);
    await other.stop();
  },

  async 'rings for a queue when a task wants a turn: by a commit, an append, a release'(bench) {
    const { store, second } = bench;
    for (const [queue, listener] of Object.entries({ near: store, far: second })) {
      const log = logOf(store, { taskId: queue, queue });
      const bell = await listen(listener, { queue }, bench);
      await log.create({ turn: { queue, want: true } });
      await bell.next();
      const [lease] = await store.claim({ queue, holder: `h ${queue}`, ttlMs: 60_000, limit: 1 });
      await log.commit([], { writer: lease, turn: { queue, release: true, want: true } });
      await bell.next();
      await store.claim({ queue, holder: `i ${queue}`, ttlMs: 60_000, limit: 1 });
      await log.commit([], { turn: { queue, release: true } });
      await log.append(received('m2'), 'message:m2', { turn: { queue, want: true } });
      await bell.next();
      await bell.stop();
    }
  },

  async 'does not ring for what was refused'(bench) {
    const { store } = bench;
    const log = logOf(store);
    await log.create();
    const late = log.prepare([chunk(1)]);
    await log.commit([chunk(1)]);
    const before = await listen(store, topic, bench);
    await refuses('VERSION_CONFLICT', store.commit(late));
    const after = await listen(store, topic, bench);
    await log.commit([chunk(2)]);
    await after.next();
    await before.next();
    await before.stop();
    await after.stop();
  },
});
