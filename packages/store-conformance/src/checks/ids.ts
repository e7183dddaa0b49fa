import assert from 'node:assert/strict';
import { section } from '../fixture/check.ts';
import { each, idsOf, refuses, same, subscribe, walk } from '../fixture/expectations.ts';
import { at, chunk, completed, oddIds, received, wide } from '../samples/facts.ts';
import { logOf } from '../samples/log.ts';
import { acquire, claim, lease, long, writer } from '../samples/turns.ts';

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
      return log.started({ turn, once: one, commitId: one });
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
      const log = await logOf(store, { scope, taskId }).started();
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

export const identityChecks = section('identity', {
  async 'is a short text'({ store }) {
    const identity = await store.identity();
    assert.equal(typeof identity, 'string');
    assert.ok(identity.length >= 1 && identity.length <= 200, `has ${identity.length} characters`);
  },

  async 'is the same in every process on the data, however many ask first'({ store, second }) {
    const asked = await Promise.all([store.identity(), second.identity(), store.identity()]);
    assert.deepEqual(new Set(asked).size, 1, `differs: ${asked}`);
  },

  async 'stays the same while tasks are written, and after a restart'({ store, reopen }) {
    const before = await store.identity();
    await logOf(store).create();
    assert.equal(await store.identity(), before);
    assert.equal(await (await reopen()).identity(), before);
  },
});

export const pingChecks = section('ping', {
  async 'resolves in every process on the data, with and without tasks'({ store, second }) {
    await Promise.all([store.ping(), second.ping()]);
    await logOf(store).create();
    await Promise.all([store.ping(), second.ping()]);
  },
});

export const closeChecks = section('close', {
  async 'may be called again'({ store }) {
    await logOf(store).create();
    await store.close();
    await store.close();
  },
});

export const scopeChecks = section('what lies in another scope', {
  async 'cannot be read, listed or counted'({ store, second }) {
    await logOf(store, { scope: 'mine' }).create();
    for (const scope of ['theirs', 'min', 'mine ', 'MINE']) {
      assert.equal(await second.load(scope, 't'), undefined);
      same(await second.readFacts(scope, 't', 0, 9), []);
      same(await second.list(scope, { limit: 9, answered: true }), { tasks: [], total: 0 });
      same(await second.list(scope, { limit: 9, contextId: 'c' }), { tasks: [], total: 0 });
    }
  },

  async 'cannot be listed by the name of its context, however many tasks that has'({ store, second }) {
    for (let n = 0; n < 20; n++) await logOf(store, { scope: 'mine', taskId: `t${n}` }).create();
    same(await second.list('theirs', { limit: 9, contextId: 'c' }), { tasks: [], total: 0 });
    await logOf(store, { scope: 'theirs' }).create();
    const { tasks, total } = await second.list('theirs', { limit: 9, contextId: 'c' });
    assert.deepEqual([idsOf(tasks), total], [['t'], 1]);
    assert.equal((await second.list('mine', { limit: 9, contextId: 'c' })).total, 20);
  },

  async 'cannot be written: the same ids are another task'({ store }) {
    const mine = logOf(store, { scope: 'mine' });
    const theirs = logOf(store, { scope: 'theirs' });
    await mine.create({ once: 'key', ...acquire('h') });
    await refuses('VERSION_CONFLICT', theirs.append(received('m2')));
    same(await theirs.create({ once: 'key' }), { version: 2 });
    await refuses('FENCED', theirs.commit([chunk(1)], writer('h')));
    await theirs.commit([completed()]);
    same(await mine.commit([chunk(1)], writer('h')), { version: 3 });
    assert.equal((await mine.load()).version, 3);
    assert.equal((await theirs.load()).head.closed, true);
  },
});
