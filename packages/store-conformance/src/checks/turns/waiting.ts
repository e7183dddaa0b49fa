import assert from 'node:assert/strict';
import { section } from '../../fixture/check.ts';
import { refuses, same } from '../../fixture/expectations.ts';
import { chunk, completed, created, received } from '../../samples/facts.ts';
import { logOf } from '../../samples/log.ts';
import { acquire, claim, release, wanted, writer } from '../../samples/turns.ts';

/** What a commit has that wants a turn unless so many wait already. */
const atMost = (waitingAtMost: number) => ({ turn: { ...wanted.turn, waitingAtMost } });

export const waitingChecks = section('waiting', {
  async 'counts the open tasks of a queue that want a turn and do not run'({ store, second }) {
    assert.equal(await store.waiting('q'), 0);
    const [a, b] = [logOf(store, { taskId: 'a' }), logOf(store, { taskId: 'b' })];
    for (const log of [a, b, logOf(store, { taskId: 'c' })]) await log.create(wanted);
    await a.commit([chunk(1)], wanted);
    assert.equal(await second.waiting('q'), 3);
    assert.equal(await store.waiting('other'), 0);
    await claim(store, 'x', { task: { scope: 's', taskId: 'a' } });
    assert.equal(await store.waiting('q'), 2);
    await b.commit([completed()]);
    assert.equal(await store.waiting('q'), 1);
    await a.commit([], { ...writer('x'), ...release(true) });
    assert.equal(await second.waiting('q'), 2);
  },

  async 'may stop counting where the caller needs no more'({ store, second }) {
    for (const taskId of ['a', 'b', 'c']) await logOf(store, { taskId }).create(wanted);
    for (const atMost of [1, 2]) {
      const counted = await second.waiting('q', atMost);
      assert.ok(counted >= atMost && counted <= 3, `counted ${counted} of 3, at most ${atMost}`);
    }
    for (const atMost of [3, 4, 1_000]) assert.equal(await second.waiting('q', atMost), 3);
  },

  async 'refuses a task where none may wait, and leaves nothing of it'({ store, second }) {
    const log = logOf(store);
    const first = log.prepare([received(), created()], { once: 'key', ...atMost(0) });
    await refuses('QUEUE_FULL', store.commit(first));
    assert.equal(await second.load('s', 't'), undefined);
    assert.equal((await second.list('s', { limit: 9 })).total, 0);
    assert.equal(await second.waiting('q'), 0);
    same(await claim(second, 'x'), []);
    same(await log.create({ once: 'key', turn: { queue: 'q' } }), { version: 2 });
    await refuses('QUEUE_FULL', log.commit([chunk(1)], atMost(0)));
    assert.equal((await second.load('s', 't'))?.version, 2);
    same(await log.commit([chunk(1)], wanted), { version: 3 });
  },

  async 'refuses a task once as many wait in its queue as may, and none before'({ store, second }) {
    for (const taskId of ['r', 's']) await logOf(store, { taskId }).create(acquire('x'));
    for (const taskId of ['m', 'n'])
      await logOf(store, { taskId, queue: 'other' }).create({ turn: { queue: 'other', want: true } });
    for (const taskId of ['a', 'b', 'c']) await logOf(store, { taskId }).create(atMost(3));
    assert.equal(await store.waiting('q'), 3);
    // The next one, unless the store counts each of its parts by itself: then one of the next.
    let late = 0;
    const create = async () => logOf(second, { taskId: `late ${late}` }).create(atMost(3));
    const createMany = async () => {
      for (; late < 200; late++) await create();
    };
    await refuses('QUEUE_FULL', createMany());
    await claim(second, 'y', { limit: 200 });
    await create();
    assert.equal(await store.waiting('q'), 1);
  },

  async 'refuses no commit after which its task does not wait'({ store }) {
    await logOf(store, { taskId: 'before' }).create(wanted);
    const log = logOf(store);
    await log.create({ turn: { ...acquire('x').turn, waitingAtMost: 0 } });
    same(await log.commit([chunk(1)], { ...writer('x'), ...atMost(0) }), { version: 3 });
    const released = { queue: 'q', waitingAtMost: 0, release: true };
    same(await log.commit([completed()], { ...writer('x'), turn: released }), { version: 4 });
  },
});
