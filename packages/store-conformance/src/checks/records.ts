import assert from 'node:assert/strict';
import type { TaskStore } from '@batonjs/store';
import { section } from '../fixture/check.ts';
import { each, elapse, refuses, same } from '../fixture/expectations.ts';
import { oddIds } from '../samples/facts.ts';

/** Puts a record, which must work, and returns its revision. */
async function put(store: TaskStore, name: string, ...rest: PutRest): Promise<number> {
  const [revision, value, options] = rest;
  const written = await store.putRecord(name, revision, value, options);
  assert.ok(written !== undefined && written > revision, `put resolved to ${written} after ${revision}`);
  return written;
}

type PutRest = [revision: number, value: unknown, options?: Parameters<TaskStore['putRecord']>[3]];

const names = async (store: TaskStore, query: Parameters<TaskStore['listRecords']>[0]): Promise<string> =>
  each(await store.listRecords(query), 'name').join(' ');

export const recordChecks = section('records', {
  async 'gives what was put, also to another handle and after a restart'({ store, second, reopen }) {
    const value = { text: "it's – \u0000 😀", list: [1, null, { a: [] }], no: false };
    assert.equal(await store.getRecord('a/b'), undefined);
    const revision = await put(store, 'a/b', 0, value);
    const record = { name: 'a/b', revision, value };
    for (const handle of [store, second]) same(await handle.getRecord('a/b'), record);
    same(await (await reopen()).getRecord('a/b'), record);
  },

  async 'writes only over the revision that it is given'({ store, second }) {
    const first = await put(store, 'a', 0, 1);
    assert.equal(await second.putRecord('a', 0, 2), undefined);
    assert.equal(await second.putRecord('a', first + 1, 2), undefined);
    assert.equal(await second.putRecord('b', first, 2), undefined);
    same((await store.getRecord('a'))?.value, 1);
    assert.equal(await store.getRecord('b'), undefined);
    const next = await put(second, 'a', first, 3);
    assert.equal(await store.putRecord('a', first, 4), undefined);
    same(await store.getRecord('a'), { name: 'a', revision: next, value: 3 });
  },

  async 'lets one of many that race write, each time'({ store, second }) {
    let revision = 0;
    for (let round = 0; round < 3; round++) {
      const racing = Array.from({ length: 12 }, (_, n) =>
        (n % 2 ? store : second).putRecord('a', revision, `${round} ${n}`),
      );
      const written = (await Promise.all(racing)).flatMap((one, n) =>
        one === undefined ? [] : [{ one, n }],
      );
      assert.equal(written.length, 1, `${written.length} of those that raced have written`);
      const [{ one, n }] = written as [{ one: number; n: number }];
      revision = one;
      same(await store.getRecord('a'), { name: 'a', revision, value: `${round} ${n}` });
    }
  },

  async 'writes different records at once'({ store, second }) {
    const all = Array.from({ length: 30 }, (_, n) => put(n % 2 ? store : second, `a/${n}`, 0, n));
    assert.equal(new Set(await Promise.all(all)).size > 0, true);
    for (let n = 0; n < 30; n++) same((await second.getRecord(`a/${n}`))?.value, n);
  },

  async 'deletes a record, of one revision if that is named'({ store, second }) {
    const first = await put(store, 'a', 0, 1, { scope: 's', ttlMs: 3_600_000 });
    assert.equal(await second.deleteRecord('a', first + 1), false);
    assert.equal(await second.deleteRecord('a', first), true);
    assert.equal(await store.deleteRecord('a'), false);
    assert.equal(await store.getRecord('a'), undefined);
    assert.equal(await names(store, { scope: 's', limit: 9 }), '');
    await put(store, 'a', 0, 2);
    assert.equal(await store.deleteRecord('a'), true);
    same(await store.listRecords({ limit: 9 }), []);
  },

  async 'never gives a revision of a deleted record to the next one of its name'(fixture) {
    const { store, second } = fixture;
    const first = await put(store, 'a', 0, 1);
    await store.deleteRecord('a');
    // It begins with the time.
    await elapse(fixture, 2);
    const next = await put(second, 'a', 0, 2);
    assert.ok(next > first, `${next} after ${first}`);
    assert.equal(await store.putRecord('a', first, 3), undefined);
  },

  async 'lists by the beginning of names, in their order, page by page'({ store, second }) {
    const all = 'a a%20b a-b a.b a/ a/1 a/10 a/2 a0 a= aB a_ ab a~ b'.split(' ');
    for (const name of all.toReversed()) await put(store, name, 0, name, { scope: name < 'aB' ? 's' : 't' });
    assert.equal(await names(second, { limit: 99 }), all.join(' '));
    assert.equal(await names(second, { prefix: 'a/', limit: 99 }), 'a/ a/1 a/10 a/2');
    assert.equal(await names(second, { prefix: 'a/', limit: 2 }), 'a/ a/1');
    assert.equal(await names(second, { prefix: 'a/', limit: 2, after: 'a/1' }), 'a/10 a/2');
    assert.equal(await names(second, { prefix: 'a/', limit: 2, after: 'a/2' }), '');
    assert.equal(await names(second, { prefix: 'a/', limit: 1, after: 'a' }), 'a/');
    assert.equal(await names(second, { prefix: 'c', limit: 9 }), '');
    assert.equal(await names(second, { scope: 't', limit: 3 }), 'aB a_ ab');
    assert.equal(await names(second, { scope: 't', limit: 3, after: 'ab' }), 'a~ b');
    assert.equal(await names(second, { scope: 's', prefix: 'a/', limit: 9, after: 'a/1' }), 'a/10 a/2');
    const [first] = await second.listRecords({ limit: 1 });
    same(first, await store.getRecord('a'));
  },

  async 'lists the records of a scope as they were put last, whatever the scope'({ store, second }) {
    const put9 = (scope: string, n: number) => put(store, `r/${n}`, 0, scope, { scope });
    for (const [n, scope] of oddIds.entries()) await put9(scope, n);
    for (const [n, scope] of oddIds.entries())
      assert.equal(await names(second, { scope, limit: 9 }), `r/${n}`);
    const revision = await put(store, 'moves', 0, 1, { scope: 's' });
    const moved = await put(store, 'moves', revision, 2, { scope: 't' });
    assert.equal(await names(store, { scope: 's', limit: 9 }), '');
    assert.equal(await names(store, { scope: 't', limit: 9 }), 'moves');
    await put(store, 'moves', moved, 3);
    assert.equal(await names(store, { scope: 't', limit: 9 }), '');
  },

  async 'shows no record whose time is over'(fixture) {
    const { store, second } = fixture;
    for (const n of [1, 2, 3, 4])
      await put(store, `a/${n}`, 0, n, { scope: 's', ...(n % 2 && { ttlMs: 200 }) });
    const kept = await put(store, 'b', 0, 1, { ttlMs: 200 });
    await put(store, 'b', kept, 2);
    await put(store, 'c', 0, 1, { ttlMs: 3_600_000 });
    await elapse(fixture, 220);
    assert.equal(await second.getRecord('a/1'), undefined);
    assert.equal(await names(second, { prefix: 'a/', limit: 1 }), 'a/2');
    assert.equal(await names(second, { prefix: 'a/', limit: 1, after: 'a/2' }), 'a/4');
    assert.equal(await names(second, { scope: 's', limit: 2 }), 'a/2 a/4');
    assert.equal(await names(second, { limit: 9 }), 'a/2 a/4 b c');
    assert.equal(await second.deleteRecord('a/1'), false);
    same((await second.getRecord('b'))?.value, 2);
  },

  async 'takes a new record in the place of one whose time is over'(fixture) {
    const { store, second } = fixture;
    const first = await put(store, 'a', 0, 1, { ttlMs: 20, scope: 's' });
    await elapse(fixture, 40);
    assert.equal(await second.putRecord('a', first, 2), undefined);
    const next = await put(second, 'a', 0, 2);
    assert.ok(next > first, `${next} after ${first}`);
    same(await store.getRecord('a'), { name: 'a', revision: next, value: 2 });
    assert.equal(await names(store, { scope: 's', limit: 9 }), '');
  },

  async 'refuses names and values that it cannot keep, and says so'({ store }) {
    await put(store, 'x'.repeat(512), 0, 'x'.repeat(65_534), { ttlMs: 3_600_000, scope: 's' });
    for (const name of ['', 'x'.repeat(513), 'a b', "a'b", 'a\\b', 'é', 'a\n', 'a{b}'])
      await refuses('INVALID_RECORD', store.putRecord(name, 0, 1));
    await refuses('INVALID_RECORD', store.getRecord("'"));
    await refuses('INVALID_RECORD', store.deleteRecord("'"));
    await refuses('INVALID_RECORD', store.listRecords({ prefix: "'", limit: 1 }));
    await refuses('INVALID_RECORD', store.listRecords({ after: "'", limit: 1 }));
    await refuses('INVALID_RECORD', store.putRecord('a', 0, 'x'.repeat(65_535)));
    await refuses('INVALID_RECORD', store.putRecord('a', 0, undefined));
    for (const ttlMs of [0, -1, Number.NaN, Number.POSITIVE_INFINITY])
      await refuses('INVALID_RECORD', store.putRecord('a', 0, 1, { ttlMs }));
    assert.equal(await names(store, { limit: 9, prefix: 'a' }), '');
  },

  async 'keeps a value as it was when it was put'({ store }) {
    const value = { list: [1] };
    const writing = put(store, 'a', 0, value);
    value.list.push(2);
    await writing;
    const read = (await store.getRecord('a'))?.value as typeof value;
    same(read, { list: [1] });
    try {
      read.list.push(3);
    } catch {
      // It is frozen.
    }
    same((await store.getRecord('a'))?.value, { list: [1] });
  },

  async 'leaves tasks alone'({ store }) {
    await put(store, 'a', 0, 1, { scope: 's' });
    same(await store.list('s', { limit: 9, answered: true }), { tasks: [], total: 0 });
    assert.equal(await store.prune({ closedBefore: '9999-01-01T00:00:00.000Z', limit: 9 }), 0);
    same((await store.getRecord('a'))?.value, 1);
  },
});
