import assert from 'node:assert/strict';
import { walk } from '../fixture/all-pages.ts';
import { section } from '../fixture/check.ts';
import { each, idsOf, same, subscribe } from '../fixture/expectations.ts';
import { at, chunk, completed } from '../samples/facts.ts';
import { logOf } from '../samples/log.ts';
import { oddIds, wide } from '../samples/odd-ids.ts';
import { claim, lease, long } from '../samples/turns.ts';

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
      same(idsOf((await again.list('s', { limit: 9, contextId: taskId })).tasks), [taskId]);
    }
    const pages = await walk(again, 's', { limit: 7 });
    const listed = pages.flatMap(({ tasks }) => idsOf(tasks));
    assert.equal(listed.length, oddIds.length);
    assert.deepEqual(new Set(listed), new Set(oddIds));
  },

  async 'of scopes, queues, holders and keys may be any text too'({ store, second }) {
    for (const id of oddIds) {
      const turn = { queue: id, acquire: { holder: id, ttlMs: long } };
      const made = await logOf(store, { scope: id, queue: id }).create({ turn, once: id });
      same(made.lease, { ...lease(id, 1, 'committed'), scope: id, queue: id });
    }
    for (const id of oddIds) {
      same(await claim(second, id, { queue: id }), [{ ...lease(id, 1, 'held'), scope: id, queue: id }]);
      same(await logOf(second, { scope: id }).append(chunk(1), id), { version: 1, repeated: true });
      assert.equal((await second.list(id, { limit: 9 })).total, 1);
    }
  },

  async 'may all be as long as an id may be, at once'({ store, reopen }) {
    const [one, other] = [wide('a'), wide('b')];
    const turn = { queue: one, acquire: { holder: one, ttlMs: long } };
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
    same(idsOf(listed.tasks), [other, one]);
    const after = { statusAt: at(1), taskId: other };
    assert.equal((await again.list(one, { limit: 9, after })).tasks.length, 1);
    const task = { taskId: one, scope: one };
    same(each(await claim(again, one, { queue: one, task }), 'cause'), ['held']);
    same(await logOf(again, task).append(chunk(1), one), { version: 1, repeated: true });
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
    for (const [n, [scope, taskId]] of pairs.entries())
      same(each(await store.readFacts(scope, taskId, 2, 9), 'fact'), [chunk(n + 1)]);
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
