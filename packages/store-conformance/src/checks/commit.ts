import assert from 'node:assert/strict';
import { section } from '../fixture/check.ts';
import { each, picked, refuses, same, vandalize } from '../fixture/expectations.ts';
import { at, chunk, completed, created, received, status, working } from '../samples/facts.ts';
import { freshCommitId, logOf, nth, snapshotAt } from '../samples/log.ts';
import { acquire, claim, release, wanted } from '../samples/turns.ts';

export const commitChecks = section('commit', {
  async 'makes facts, positions, commit ids and head readable'({ store }) {
    const log = logOf(store);
    const first = log.prepare([received(), created()]);
    same(await store.commit(first), { version: 2 });
    same(await log.load(), {
      head: first.head,
      version: 2,
      facts: [
        { version: 1, commitId: first.commitId, fact: received() },
        { version: 2, commitId: first.commitId, fact: created() },
      ],
    });
  },

  async 'resolves to the position of the last fact'({ store }) {
    const log = logOf(store);
    same(await log.create(), { version: 2 });
    same(await log.commit([working(), chunk(1), chunk(2)]), { version: 5 });
  },

  async 'stores with each fact the id of the commit that wrote it'({ store }) {
    const log = await logOf(store).started({ commitId: 'one' });
    await log.commit([working()], { commitId: 'two' });
    await log.append(chunk(1), 'key', { commitId: 'three' });
    same(each((await log.load()).facts, 'commitId'), ['one', 'one', 'two', 'three']);
  },

  async 'keeps every member of a head and forgets those that the next head leaves out'({ store }) {
    const log = await logOf(store).started();
    const head = { ...log.headAfter([working()]), dueAt: at(5), turn: 3, attempt: 2 };
    await log.commit([working()], { head });
    same((await log.load()).head, head);
    await log.commit([chunk(1)], { head: { ...head, version: 4, dueAt: undefined } });
    assert.equal((await log.load()).head.dueAt, undefined);
  },

  async 'keeps the head of a log that is no task yet'({ store }) {
    const log = logOf(store);
    await log.commit([received()]);
    same((await log.load()).head, log.head);
    assert.equal((await log.load()).head.state, undefined);
  },

  async 'replaces the snapshot, and keeps it when a commit brings none'({ store }) {
    const log = await logOf(store).started({ snapshot: snapshotAt(2) });
    await log.commit([working()]);
    await log.commit([chunk(1)]);
    const kept = await log.load();
    same(kept.snapshot, snapshotAt(2));
    same(each(kept.facts, 'version'), [3, 4]);
    await log.commit([chunk(2)], { snapshot: snapshotAt(5) });
    const replaced = await log.load();
    same(replaced.snapshot, snapshotAt(5));
    same(replaced.facts, []);
    assert.equal(replaced.version, 5);
  },

  async 'refuses facts that were decided on a shorter log'({ store }) {
    const log = await logOf(store).started();
    const late = log.prepare([working()]);
    await log.commit([chunk(1)]);
    const before = await log.load();
    await refuses('VERSION_CONFLICT', store.commit(late));
    same(await log.load(), before);
  },

  async 'refuses facts that were decided on a longer log, or on one that is not there'({ store }) {
    const log = logOf(store);
    const head = log.headAfter([received(), created(), working(), chunk(1)]);
    await refuses('VERSION_CONFLICT', log.commit([chunk(1)], { expectedVersion: 3, head }));
    assert.equal(await store.load('s', 't'), undefined);
    await log.create();
    await refuses('VERSION_CONFLICT', log.commit([chunk(1)], { expectedVersion: 3, head }));
    assert.equal((await log.load()).version, 2);
  },

  async 'refuses to start a log twice'({ store }) {
    await logOf(store).create();
    await refuses('VERSION_CONFLICT', logOf(store).create());
    assert.equal((await logOf(store).load()).version, 2);
  },

  async 'leaves nothing behind of a commit that it refuses'({ store }) {
    const log = await logOf(store).started();
    const late = log.prepare([working(at(9)), chunk(1), status('TASK_STATE_FAILED', at(9))], {
      snapshot: snapshotAt(5),
      once: 'key',
      ...wanted,
    });
    await log.commit([working(at(1))]);
    const before = { log: await log.load(), page: await store.list('s', { limit: 9 }) };
    await refuses('VERSION_CONFLICT', store.commit(late));
    same({ log: await log.load(), page: await store.list('s', { limit: 9 }) }, before);
    assert.equal(await store.waiting('q'), 0);
    same(await claim(store, 'h'), []);
    same(await log.commit([chunk(1)], { once: 'key' }), { version: 4 });
  },

  async 'refuses everything after the closing fact'({ store }) {
    const log = await logOf(store).started();
    await log.commit([completed()]);
    const before = await log.load();
    await refuses('LOG_CLOSED', log.commit([chunk(1)]));
    await refuses('LOG_CLOSED', log.commit([], release(true)));
    await refuses('LOG_CLOSED', log.commit([chunk(1)], acquire('h')));
    same(await log.load(), before);
  },

  async 'refuses commits that contradict themselves'({ store }) {
    const log = await logOf(store).started();
    for (const head of [undefined, log.head])
      await refuses('INVALID_COMMIT', log.commit([chunk(1)], { head }));
    await refuses('INVALID_COMMIT', log.commit([], { turn: { queue: 'q' } }));
    const more = [{ once: undefined }, { facts: [] }, { head: log.head }, { snapshot: snapshotAt(3) }];
    for (const each of [...more, release(), acquire('h')])
      await refuses('INVALID_COMMIT', log.append(chunk(1), 'a', each));
    assert.equal((await log.load()).version, 2);
    same(await log.append(chunk(1), 'a'), { version: 3 });
  },

  async 'lets exactly one of many writers at the same position win'({ store, second }) {
    const log = await logOf(store).started();
    const rivals = Array.from({ length: 16 }, (_, n) => log.prepare([chunk(n + 1)]));
    const settled = await Promise.allSettled(
      rivals.map((rival, n) => (n % 2 ? store : second).commit(rival)),
    );
    const won = rivals.filter((_, n) => settled[n]?.status === 'fulfilled');
    assert.equal(won.length, 1);
    const { commitId, facts: added } = nth(won, 0);
    const lost = settled.filter((one) => one.status === 'rejected');
    for (const { reason } of lost) await refuses('VERSION_CONFLICT', Promise.reject(reason));
    const { facts } = await log.load();
    assert.equal(facts.length, 3);
    same(facts[2], { version: 3, commitId, fact: added[0] });
  },

  async 'lets exactly one of many creators win'({ store, second }) {
    const rivals = Array.from({ length: 8 }, (_, n) => logOf(n % 2 ? store : second).create());
    const settled = await Promise.allSettled(rivals);
    assert.equal(settled.filter((one) => one.status === 'fulfilled').length, 1);
    assert.equal((await logOf(store).load()).version, 2);
  },

  async 'lets writers of different tasks pass each other, conflicts and all'({ store, second }) {
    const taskIds = Array.from({ length: 20 }, (_, n) => `t${n}`);
    const settled = await Promise.allSettled(
      taskIds.flatMap((taskId, n) => [
        logOf(store, { taskId }).create(),
        ...(n % 3 ? [] : [logOf(second, { taskId }).create()]),
      ]),
    );
    assert.equal(settled.filter((one) => one.status === 'fulfilled').length, taskIds.length);
    for (const taskId of taskIds) assert.equal((await logOf(second, { taskId }).load()).version, 2);
  },

  async 'takes more than a thousand facts at once, and reads them'({ store }) {
    const log = logOf(store);
    const chunks = Array.from({ length: 1_100 }, (_, n) => chunk(n + 1));
    await log.commit([received(), created(), ...chunks]);
    const stored = await log.load();
    assert.equal(stored.version, 1_102);
    for (const facts of [stored.facts.slice(2), await store.readFacts('s', 't', 2, 2_000)])
      same(
        picked(facts, 'version', 'fact'),
        chunks.map((fact, n) => [n + 3, fact]),
      );
  },

  async 'takes a fact of 1 MiB'({ store, second }) {
    const big = chunk(1, 'ä'.repeat(2 ** 19));
    const log = await logOf(store).started();
    await log.commit([big]);
    same((await second.readFacts('s', 't', 2, 1))[0]?.fact, big);
  },

  async 'keeps what JSON can say, as JSON says it'({ store }) {
    const data = {
      text: 'a\u0000b\ud800 "\\\n\u2028',
      deep: [[{ a: [null, true, -0.5, 1e300] }]],
      __proto: {},
      '': '',
    };
    const odd = JSON.parse('{"__proto__":{"a":1},"constructor":1}');
    const fact = { ...chunk(1), metadata: { data, odd, left: undefined, when: new Date(0) } };
    const log = await logOf(store).started();
    await log.commit([fact as never]);
    same((await log.load()).facts[2]?.fact, fact);
  },

  async 'shares nothing with the writer that the writer could change'({ store }) {
    const log = logOf(store);
    const fact = structuredClone(chunk(1));
    const snapshot = structuredClone(snapshotAt(2));
    await log.create();
    const head = { ...log.headAfter([fact]) };
    const facts = [fact];
    await log.commit(facts, { head, snapshot, commitId: 'id' });
    const before = JSON.stringify(await log.load());
    facts.push(chunk(2));
    vandalize(fact);
    vandalize(snapshot);
    vandalize(head);
    assert.equal(JSON.stringify(await log.load()), before);
    same((await store.readFacts('s', 't', 2, 9))[0], { version: 3, commitId: 'id', fact: chunk(1) });
  },

  async 'is finished before the store is closed'({ store, reopen }) {
    const taskIds = Array.from({ length: 5 }, (_, n) => `t${n}`);
    const committing = Promise.all(taskIds.map((taskId) => logOf(store, { taskId }).create()));
    const [again] = await Promise.all([reopen(), committing]);
    for (const taskId of taskIds) assert.equal((await again.load('s', taskId))?.version, 2);
  },

  async 'survives being opened again'({ store, reopen }) {
    const log = await logOf(store).started({ snapshot: snapshotAt(2), once: 'key' });
    await log.commit([working()]);
    const before = await log.load();
    const again = logOf(await reopen());
    same(await again.load(), before);
    same(await again.append(chunk(1), 'key', { commitId: freshCommitId() }), { version: 1, repeated: true });
  },
});
