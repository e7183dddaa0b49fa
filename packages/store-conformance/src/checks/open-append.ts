import assert from 'node:assert/strict';
import { section } from '../fixture/check.ts';
import { each, refuses, same } from '../fixture/expectations.ts';
import { at, cancelRequested, chunk, completed, received, working } from '../samples/facts.ts';
import { logOf, snapshotAt } from '../samples/log.ts';
import { acquire, claim, release, wanted, writer } from '../samples/turns.ts';

export const openAppendChecks = section("an 'open' append", {
  async 'goes wherever the log ends and leaves head and snapshot alone'({ store }) {
    const log = await logOf(store).started({ snapshot: snapshotAt(2) });
    same(await log.append(received('m2')), { version: 3 });
    same(await log.append(cancelRequested(), 'cancel', { commitId: 'x' }), { version: 4 });
    const stored = await log.load();
    same(stored.head, log.head);
    same(stored.snapshot, snapshotAt(2));
    assert.equal(stored.version, 4);
    same(stored.facts[1], { version: 4, commitId: 'x', fact: cancelRequested() });
    same((await store.list('s', { limit: 1 })).tasks[0]?.head, log.head);
  },

  async 'may bring several facts and resolves to the position of the last'({ store }) {
    const log = await logOf(store).started();
    same(await log.append(chunk(1), 'a', { facts: [chunk(1), chunk(2), chunk(3)] }), { version: 5 });
  },

  async 'never makes time go back, whatever the clock of its writer says'({ store, second }) {
    const log = await logOf(store).started();
    await log.commit([working(at(500))]);
    await logOf(second).append(received('m2', 'c', at(100)));
    await log.append(cancelRequested(at(900)), 'cancel', {
      facts: [received('m3', 'c', at(700)), cancelRequested(at(200)), received('m4', 'c', at(900))],
    });
    const times = (await store.readFacts('s', 't', 2, 9)).map(({ fact }) => fact.at);
    assert.deepEqual(times, [at(500), at(500), at(700), at(700), at(900)]);
    const { facts } = await logOf(second).load();
    same(facts[3]?.fact, received('m2', 'c', at(500)));
  },

  async 'needs a log'({ store }) {
    await refuses('VERSION_CONFLICT', logOf(store).append(cancelRequested()));
    assert.equal(await store.load('s', 't'), undefined);
  },

  async 'is refused by a closed log'({ store }) {
    const log = await logOf(store).started();
    await log.commit([completed()]);
    await refuses('LOG_CLOSED', log.append(cancelRequested()));
    assert.equal((await log.load()).version, 3);
  },

  async 'never loses against other writers, through whichever handle'({ store, second }) {
    const log = await logOf(store).started();
    const appends = Array.from({ length: 20 }, (_, n) =>
      logOf(n % 2 ? store : second).append(received(`m${n}`)),
    );
    const positions = each(await Promise.all(appends), 'version');
    const sorted = positions.toSorted((a, b) => a - b);
    assert.deepEqual(
      sorted,
      Array.from(sorted, (_, n) => n + 3),
    );
    const facts = (await log.load()).facts.slice(2);
    for (const [n, position] of positions.entries()) same(facts[position - 3]?.fact, received(`m${n}`));
  },

  async 'makes the holder of the lease fold it in first'({ store }) {
    const log = await logOf(store).started(acquire('h'));
    await log.append(received('m2'));
    await refuses('VERSION_CONFLICT', log.commit([working()], writer('h')));
    await log.catchUp();
    same(await log.commit([working()], writer('h')), { version: 4 });
    same((await log.load()).head, log.head);
  },

  async 'may want a turn'({ store }) {
    const log = await logOf(store).started();
    await log.append(received('m2'), 'message:m2', wanted);
    assert.equal(await store.waiting('q'), 1);
    same(each(await claim(store, 'h'), 'cause'), ['wanted']);
  },
});

export const onceChecks = section('once', {
  async 'lets only the first commit count and tells where its first fact is'({ store, second }) {
    const log = await logOf(store).started({ once: 'message:m1' });
    await log.append(chunk(1), 'message:m2', { facts: [received('m2'), chunk(1)] });
    const before = await log.load();
    same(await log.append(received('m2'), 'message:m2'), { version: 3, repeated: true });
    same(await logOf(second).append(received('m2'), 'message:m2'), { version: 3, repeated: true });
    same(await log.append(received('m1'), 'message:m1'), { version: 1, repeated: true });
    same(await log.load(), before);
  },

  async 'answers before the version, the fence and the closing are checked'({ store }) {
    const log = await logOf(store).started({ once: 'message:m1' });
    const counted = { version: 1, repeated: true };
    same(await logOf(store).create({ once: 'message:m1' }), counted);
    same(await log.commit([working()], { once: 'message:m1', ...writer('x', 7) }), counted);
    await log.append(cancelRequested(), 'cancel');
    await log.catchUp();
    await log.commit([completed()]);
    same(await log.append(cancelRequested(), 'cancel'), { version: 3, repeated: true });
    same(await log.commit([working()], { once: 'message:m1' }), counted);
    await refuses('LOG_CLOSED', log.append(received('m2'), 'message:m2'));
  },

  async 'gives a repeated commit nothing: no lease, no turn, no snapshot, no release'({ store }) {
    const log = await logOf(store).started({ once: 'key', ...acquire('h') });
    const counted = { version: 1, repeated: true };
    same(await log.commit([working()], { once: 'key', ...release(true), snapshot: snapshotAt(3) }), counted);
    assert.equal(await store.waiting('q'), 0);
    assert.equal((await log.load()).snapshot, undefined);
    same(await log.commit([working()], writer('h')), { version: 3 });
    await log.commit([], release());
    same(await log.commit([working()], { once: 'key', ...acquire('other') }), counted);
    await refuses('FENCED', log.commit([chunk(1)], writer('other', 2)));
  },

  async 'is not used by a commit without a key'({ store }) {
    const log = await logOf(store).started();
    await log.commit([working()]);
    for (const [n, key] of ['undefined', 'null', '0'].entries())
      same(await log.append(chunk(n), key), { version: 4 + n });
    await log.catchUp();
    same(await log.commit([completed()]), { version: 7 });
  },

  async 'tells keys, tasks and scopes apart'({ store }) {
    const one = logOf(store);
    const sibling = logOf(store, { taskId: 't2' });
    const foreign = logOf(store, { scope: 's2' });
    for (const log of [one, sibling, foreign]) await log.create();
    same(await one.append(chunk(1), 'a'), { version: 3 });
    same(await one.append(chunk(1), 'b'), { version: 4 });
    same(await one.append(chunk(1), 'A'), { version: 5 });
    same(await sibling.append(chunk(1), 'a'), { version: 3 });
    same(await foreign.append(chunk(1), 'a'), { version: 3 });
  },

  async 'is not used up by a commit that was refused'({ store }) {
    const log = logOf(store);
    await refuses('VERSION_CONFLICT', log.append(chunk(1), 'a'));
    await log.create();
    await refuses('FENCED', log.commit([chunk(1)], { once: 'a', ...writer('h') }));
    same(await log.append(chunk(1), 'a'), { version: 3 });
  },

  async 'counts exactly one of many at the same moment'({ store, second }) {
    await logOf(store).create();
    const rivals = Array.from({ length: 12 }, (_, n) =>
      logOf(n % 2 ? store : second).append(chunk(n + 1), 'a'),
    );
    const results = await Promise.all(rivals);
    assert.equal(results.filter(({ repeated }) => !repeated).length, 1);
    assert.deepEqual(new Set(each(results, 'version')), new Set([3]));
    assert.equal((await logOf(store).load()).version, 3);
  },
});
