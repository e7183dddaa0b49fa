import assert from 'node:assert/strict';
import { walk } from '../fixture/all-pages.ts';
import { section } from '../fixture/check.ts';
import { idsOf, same, subscribe } from '../fixture/expectations.ts';
import { at, chunk, completed } from '../samples/facts.ts';
import { logOf } from '../samples/log.ts';
import { oddIds, wide } from '../samples/odd-ids.ts';

export const idChecks = section('ids', {
  async 'of tasks may be any text, and each is another task'({ store, reopen }) {
    for (const [n, taskId] of oddIds.entries()) {
      await logOf(store, { taskId, contextId: taskId }).create();
      await logOf(store, { taskId }).append(chunk(n + 1), taskId, { commitId: taskId });
    }
    const again = await reopen();
    for (const [n, taskId] of oddIds.entries()) {
      const stored = await again.readFacts('s', taskId, 2, 9);
      same(stored, [{ version: 3, commitId: taskId, fact: chunk(n + 1) }], `task ${JSON.stringify(taskId)}`);
      const page = await again.list('s', { limit: 9, contextId: taskId });
      assert.deepEqual(
        page.tasks.map((task) => task.taskId),
        [taskId],
      );
    }
    const pages = await walk(again, 's', { limit: 7 });
    const listed = pages.flatMap(({ tasks }) => idsOf(tasks));
    assert.equal(listed.length, oddIds.length);
    assert.deepEqual(new Set(listed), new Set(oddIds));
  },

  async 'of scopes, queues, holders and keys may be any text too'({ store, second }) {
    const turn = (id: string) => ({ queue: id, acquire: { holder: id, ttlMs: 60_000 } });
    for (const id of oddIds) {
      const { lease } = await logOf(store, { scope: id, queue: id }).create({ turn: turn(id), once: id });
      same(lease, { scope: id, taskId: 't', queue: id, holder: id, fence: 1, cause: 'committed' });
    }
    for (const id of oddIds) {
      const [lease, ...more] = await second.claim({ queue: id, holder: id, ttlMs: 60_000, limit: 9 });
      same(lease, { scope: id, taskId: 't', queue: id, holder: id, fence: 1, cause: 'held' });
      same(more, []);
      same(await logOf(second, { scope: id }).append(chunk(1), id), { version: 1, repeated: true });
      assert.equal((await second.list(id, { limit: 9 })).total, 1);
    }
  },

  async 'may all be as long as an id may be, at once'({ store, reopen }) {
    const [one, other] = [wide('a'), wide('b')];
    const turn = { queue: one, acquire: { holder: one, ttlMs: 60_000 } };
    const create = async (taskId: string) => {
      const log = logOf(store, { scope: one, taskId, contextId: one, queue: one });
      await log.create({ turn, once: one, commitId: one });
      return log;
    };
    await create(one);
    const closed = await create(other);
    await closed.commit([completed(at(1))], { commitId: other });
    const again = await reopen();
    const listed = await again.list(one, { limit: 9, contextId: one });
    assert.deepEqual(
      listed.tasks.map(({ taskId }) => taskId === one),
      [false, true],
    );
    const after = { statusAt: at(1), taskId: other };
    assert.equal((await again.list(one, { limit: 9, after })).tasks.length, 1);
    const claim = { queue: one, holder: one, ttlMs: 60_000, limit: 9, taskId: one, scope: one };
    assert.deepEqual(
      (await again.claim(claim)).map(({ cause }) => cause),
      ['held'],
    );
    same(await logOf(again, { scope: one, taskId: one }).append(chunk(1), one), {
      version: 1,
      repeated: true,
    });
    assert.equal(await again.prune({ closedBefore: at(2), limit: 9 }), 1);
    assert.equal((await again.load(one, one))?.version, 2);
  },

  async 'that run together are not mixed up'({ store }) {
    const pairs = [
      ['a', 'b:c'],
      ['a:b', 'c'],
      ['a', 'b/c'],
      ['a/b', 'c'],
      ['a|', 'b'],
      ['a', '|b'],
      ['x', 'x'],
    ] as const;
    for (const [n, [scope, taskId]] of pairs.entries()) {
      const log = logOf(store, { scope, taskId });
      await log.create();
      await log.append(chunk(n + 1));
    }
    for (const [n, [scope, taskId]] of pairs.entries()) {
      same(
        (await store.readFacts(scope, taskId, 2, 9)).map(({ fact }) => fact),
        [chunk(n + 1)],
      );
    }
  },

  async 'may be any text for watchers and for prune'(fixture) {
    for (const id of oddIds.slice(0, 12)) {
      const subscribers = [
        await subscribe(fixture.second, { scope: id, taskId: id }, fixture),
        await subscribe(fixture.second, { queue: id }, fixture),
      ];
      const log = logOf(fixture.store, { scope: id, taskId: id, queue: id });
      await log.create({ turn: { queue: id, want: true } });
      for (const subscriber of subscribers) await subscriber.next('the first commit');
      for (const subscriber of subscribers) await subscriber.stop();
      await log.commit([completed(at(1))]);
    }
    assert.equal(await fixture.store.prune({ closedBefore: at(2), limit: 99 }), 12);
  },
});
