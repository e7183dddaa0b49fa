import assert from 'node:assert/strict';
import { section } from '../fixture/check.ts';
import { each, refuses, same, vandalize } from '../fixture/expectations.ts';
import { chunk, created, received } from '../samples/facts.ts';
import { logOf, snapshotAt } from '../samples/log.ts';

const chunks = (count: number) => Array.from({ length: count }, (_, n) => chunk(n + 1));

export const loadChecks = section('load', {
  async 'knows nothing of tasks that are not there'({ store }) {
    assert.equal(await store.load('s', 't'), undefined);
    await logOf(store).create();
    assert.equal(await store.load('s', 'T'), undefined);
    assert.equal(await store.load('s2', 't'), undefined);
    assert.equal(await store.load('t', 's'), undefined);
  },

  async 'is one consistent read while others write'({ store, second }) {
    const log = await logOf(store).started();
    const write = async () => {
      for (let n = 3; n < 60; n++)
        await log.commit([chunk(n)], n % 7 ? {} : { snapshot: snapshotAt(n) }).then(soon);
    };
    const read = async (isWriting: () => boolean) => {
      while (isWriting()) {
        const { head, version, snapshot, facts } = await logOf(second).load();
        assert.equal(head.version, version);
        const from = snapshot?.version ?? 0;
        same(each(facts, 'version'), positions(from + 1, version));
        await soon();
      }
    };
    await during(write, read);
  },

  async 'shares nothing with readers that a reader could change'({ store }) {
    const log = await logOf(store).started({ snapshot: snapshotAt(2) });
    await log.commit(chunks(2));
    const read = async () => ({
      log: await log.load(),
      facts: await store.readFacts('s', 't', 0, 9),
      page: await store.list('s', { limit: 9 }),
    });
    const before = JSON.stringify(await read());
    vandalize(await read());
    assert.equal(JSON.stringify(await read()), before);
  },
});

export const readFactsChecks = section('readFacts', {
  async 'gives every fact after a position, in order, with its position'({ store, second }) {
    const log = await logOf(store).started({ commitId: 'first' });
    await log.commit(chunks(3), { commitId: 'second' });
    const all = [received(), created(), ...chunks(3)];
    for (let after = 0; after <= 5; after++) {
      same(
        await second.readFacts('s', 't', after, 100),
        all.map((fact, n) => ({ version: n + 1, commitId: n < 2 ? 'first' : 'second', fact })).slice(after),
      );
    }
  },

  async 'gives at most as many as asked for'({ store }) {
    const log = await logOf(store).started();
    await log.commit(chunks(8));
    for (const limit of [1, 2, 9, 10, 11]) {
      const facts = await store.readFacts('s', 't', 1, limit);
      same(each(facts, 'version'), positions(2, Math.min(10, limit + 1)));
    }
  },

  async 'gives nothing at the end, beyond it, and of tasks that are not there'({ store }) {
    await logOf(store).create();
    same(await store.readFacts('s', 't', 2, 9), []);
    same(await store.readFacts('s', 't', 200, 9), []);
    same(await store.readFacts('s', 'nothing', 0, 9), []);
    same(await store.readFacts('s2', 't', 0, 9), []);
  },

  async 'goes on after a commit that the log holds at that position'({ store, second }) {
    const log = await logOf(store).started({ commitId: 'first' });
    await log.commit(chunks(3), { commitId: 'second', snapshot: snapshotAt(5) });
    const versionsAfter = async (after: number, lastCommitId: string, limit = 9) =>
      each(await second.readFacts('s', 't', after, limit, lastCommitId), 'version');
    assert.deepEqual(await versionsAfter(1, 'first'), [2, 3, 4, 5]);
    assert.deepEqual(await versionsAfter(2, 'first'), [3, 4, 5]);
    assert.deepEqual(await versionsAfter(3, 'second', 1), [4]);
    assert.deepEqual(await versionsAfter(5, 'second'), []);
  },

  async 'refuses to go on after a commit that the log does not hold at that position'({ store, second }) {
    const log = await logOf(store).started({ commitId: 'first' });
    await log.commit(chunks(3), { commitId: 'second' });
    const refused = (taskId: string, after: number, lastCommitId: string) =>
      refuses('LOG_DIVERGED', second.readFacts('s', taskId, after, 9, lastCommitId));
    await refused('t', 1, 'second');
    await refused('t', 3, 'first');
    await refused('t', 5, 'secon');
    await refused('t', 5, 'second ');
    await refused('t', 5, '');
    await refused('t', 6, 'second');
    await refused('t', 600, 'second');
    await refused('nothing', 1, 'first');
  },

  async 'gives the whole log however often it was snapshotted'({ store }) {
    const log = await logOf(store).started({ snapshot: snapshotAt(2) });
    for (let n = 1; n <= 20; n++) await log.commit([chunk(n)], { snapshot: snapshotAt(n + 2) });
    same(each(await store.readFacts('s', 't', 0, 99), 'version'), positions(1, 22));
  },

  async 'never shows half a commit to another handle'({ store, second }) {
    const log = await logOf(store).started();
    const write = async () => {
      for (let n = 0; n < 40; n++) {
        await log.commit([chunk(3 * n + 1), chunk(3 * n + 2), chunk(3 * n + 3)]);
        await soon();
      }
    };
    const read = async (isWriting: () => boolean) => {
      let after = 2;
      for (let isLast = false; !isLast; await soon()) {
        isLast = !isWriting();
        const facts = await second.readFacts('s', 't', after, 1_000);
        same(each(facts, 'version'), positions(after + 1, after + facts.length));
        assert.equal(facts.length % 3, 0);
        after += facts.length;
      }
      assert.equal(after, 122);
    };
    await during(write, read);
  },
});

/** Reads while something is written, and is told whether it still is. */
async function during(write: () => Promise<void>, read: (isWriting: () => boolean) => Promise<void>) {
  let isWriting = true;
  const stop = () => {
    isWriting = false;
  };
  await Promise.all([write().finally(stop), read(() => isWriting)]);
}

/** Yields to other callbacks. */
const soon = () => new Promise<void>((resolve) => setImmediate(resolve));

const positions = (first: number, last: number): number[] =>
  Array.from({ length: Math.max(0, last - first + 1) }, (_, n) => first + n);
