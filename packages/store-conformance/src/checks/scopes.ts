import assert from 'node:assert/strict';
import { section } from '../fixture/check.ts';
import { idsOf, refuses, same } from '../fixture/expectations.ts';
import { chunk, completed, received } from '../samples/facts.ts';
import { logOf } from '../samples/log.ts';
import { acquire, writer } from '../samples/turns.ts';

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
