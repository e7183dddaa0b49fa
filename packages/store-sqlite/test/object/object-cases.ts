import assert from 'node:assert/strict';
import type { Commit } from '@batonjs/store';
import { chunkAfter, headAt } from '../../../../test/kit/task-logs.ts';
import { durableObjectStore } from '../../src/durable-object.ts';
import { all, type Case, count, held, nextStart, refuses, webhook } from './object-storage.ts';

/** 3.2 MB, with a character of two halves wherever a piece may end. */
const long = 'x😀'.repeat(400_000) + '\u{10ffff}'.repeat(400_000);
const late = '2026-02-01T00:00:00.000Z';
const longFact: Commit['facts'][number] = {
  format: 1,
  at: late,
  type: 'message-received',
  message: { messageId: 'm', contextId: 'c', role: 'ROLE_USER', parts: [{ text: long }] },
};

/** What a store on the storage of an object does, each on an object of its own. */
export const cases: Readonly<Record<string, Case>> = {
  async 'keeps facts and snapshots that are longer than a value of SQLite may be'(storage) {
    const store = durableObjectStore(storage);
    const snapshot = { version: 1, long } as never;
    await store.commit(chunkAfter(0, { facts: [longFact], snapshot }));
    assert.ok(Number(count(storage, 'pieces')) > 4);
    const [read] = await store.readFacts('s', 't', 0, 9);
    assert.deepEqual(read?.fact, longFact);
    assert.deepEqual((await store.load('s', 't'))?.snapshot, snapshot);
    const page = await store.list('s', { limit: 9, bytes: 1 });
    assert.deepEqual(page.tasks[0]?.fact?.fact, longFact);

    const another = { version: 1, long: long.slice(0, 600_000) } as never;
    await store.commit(chunkAfter(1, { facts: [longFact], snapshot: another }));
    assert.deepEqual((await store.load('s', 't'))?.snapshot, another);
    const appended = { ...chunkAfter(2), expectedVersion: 'open', once: 'k', head: undefined } as const;
    await store.commit(appended);
    const [last] = await store.readFacts('s', 't', 2, 9);
    assert.equal(last?.fact.at, late, 'no fact is earlier than the long one before it');

    await store.commit(chunkAfter(3, { head: headAt(4, { closed: true, state: 'TASK_STATE_COMPLETED' }) }));
    assert.equal(await store.prune({ closedBefore: late, limit: 9 }), 1);
    assert.equal(count(storage, 'pieces'), 0);
  },

  async 'lists tasks of more states than a compound SELECT may have'(storage) {
    const store = durableObjectStore(storage);
    const states = [
      'SUBMITTED',
      'WORKING',
      'COMPLETED',
      'FAILED',
      'CANCELED',
      'INPUT_REQUIRED',
      'REJECTED',
      'AUTH_REQUIRED',
    ];
    for (const [n, name] of [...states, ...states].entries()) {
      const statusAt = new Date(Date.UTC(2026, 0, 1) + n).toISOString();
      const head = headAt(1, { state: `TASK_STATE_${name}` as 'TASK_STATE_WORKING', statusAt });
      await store.commit(chunkAfter(0, { taskId: `t${n}`, head }));
    }
    const listed: string[] = [];
    let after: { statusAt: string; taskId: string } | undefined;
    for (let page = await store.list('s', { limit: 3 }); page.tasks.length > 0; ) {
      assert.equal(page.total, 16);
      listed.push(...page.tasks.map(({ taskId }) => taskId));
      const last = page.tasks.at(-1)!;
      after = { statusAt: last.head.statusAt, taskId: last.taskId };
      page = await store.list('s', { limit: 3, after, statusSince: '2026-01-01T00:00:00.000Z' });
    }
    assert.deepEqual(
      listed,
      Array.from({ length: 16 }, (_, n) => `t${15 - n}`),
    );
  },

  async 'ends the leases and deliveries of the object before it, and of no other store on this one'(storage) {
    const store = durableObjectStore(storage);
    await store.commit(chunkAfter(0, { turn: held }));
    await store.putPushConfig(webhook);
    assert.equal((await store.claimDeliveries(all)).length, 1);
    const second = durableObjectStore(storage);
    assert.deepEqual(await second.claim(all), []);
    assert.deepEqual(await second.claimDeliveries(all), []);

    await second.commit(chunkAfter(0, { taskId: 'waits', turn: { queue: 'q', want: true } }));
    storage.sql.exec('UPDATE tasks SET waiting_since = 5 WHERE waiting_since IS NOT NULL');
    const next = durableObjectStore(nextStart(storage));
    const [lease] = await next.claim({ ...all, limit: 1 });
    assert.deepEqual([lease?.taskId, lease?.cause, lease?.fence], ['t', 'expired', 2]);
    const [delivery] = await next.claimDeliveries(all);
    assert.equal(delivery?.fence, 2);
  },

  async 'notifies the subscribers of all stores on it, and closes each by itself'(storage) {
    const [store, second] = [durableObjectStore(storage), durableObjectStore(storage)];
    const versions: unknown[] = [];
    await second.subscribe({ scope: 's', taskId: 't' }, (version) => versions.push(version));
    await store.commit(chunkAfter(0));
    await store.close();
    await assert.rejects(store.ping(), refuses('UNAVAILABLE', /of this Durable Object is closed/));
    await second.commit(chunkAfter(1));
    assert.deepEqual(versions, [1, 2]);
  },

  async 'stores nothing of a transaction that fails, notifies of none, and works on'(storage) {
    const store = durableObjectStore(storage);
    storage.sql.exec(
      "CREATE TRIGGER broken BEFORE INSERT ON facts WHEN new.version = 2 BEGIN SELECT RAISE(ABORT, 'broken'); END",
    );
    const versions: unknown[] = [];
    await store.subscribe({ scope: 's', taskId: 't' }, (version) => versions.push(version));
    await store.commit(chunkAfter(0));
    const rejected = store.commit(chunkAfter(1, { head: headAt(2, { state: 'TASK_STATE_FAILED' }) }));
    await assert.rejects(
      async () => rejected,
      refuses('UNAVAILABLE', /SQLite of this Durable Object failed: .*broken/),
    );
    assert.equal((await store.load('s', 't'))?.version, 1);
    assert.equal((await store.list('s', { limit: 9 })).total, 1);
    storage.sql.exec('DROP TRIGGER broken');
    await store.commit(chunkAfter(1));
    assert.deepEqual(versions, [1, 2]);
    assert.equal((await store.list('s', { limit: 9, state: 'TASK_STATE_FAILED' })).total, 0);
    await store.probe!();
    assert.equal(count(storage, 'snapshots'), 0);
  },

  async 'resolves calls, and notifies, when what they wrote or read is on disk'(storage) {
    const disk: PromiseWithResolvers<void>[] = [];
    const sync = () => {
      const next = Promise.withResolvers<void>();
      disk.push(next);
      return next.promise;
    };
    const store = durableObjectStore({ ...nextStart(storage), sync });
    const seen: string[] = [];
    await store.subscribe({ scope: 's', taskId: 't' }, () => seen.push('notified'));
    const note = (name: string) => () => seen.push(name);
    const calls = [
      Promise.resolve(store.commit(chunkAfter(0))).then(note('written')),
      store.load('s', 't').then(note('read')),
    ];
    await assert.rejects(async () => store.commit(chunkAfter(7)), refuses('VERSION_CONFLICT', /at 1, not 7/));
    await new Promise((resolve) => setTimeout(resolve));
    assert.deepEqual(seen, []);
    disk[0]!.resolve();
    await Promise.all(calls);
    assert.deepEqual(seen.toSorted(), ['notified', 'read', 'written']);
    assert.equal((await store.load('s', 't'))?.version, 1);

    const failing = store.commit(chunkAfter(1));
    disk[1]!.reject(new Error('The disk failed'));
    await assert.rejects(async () => failing, refuses('UNAVAILABLE', /The disk failed/));
    // It may have been written.
    assert.equal(seen.at(-1), 'notified');
    assert.equal(seen.length, 4);
  },

  async 'refuses tables of another release'(storage) {
    const store = durableObjectStore(storage);
    const identity = await store.identity();
    assert.equal(await durableObjectStore(nextStart(storage)).identity(), identity);
    storage.sql.exec('UPDATE baton SET version = 8');
    assert.throws(
      () => durableObjectStore(nextStart(storage)),
      refuses('UNUSABLE', /another release: .* number 8, .* reads 900 only/),
    );
  },

  async 'leaves tables of the object alone, and refuses those that have the names of its own'(storage) {
    storage.sql.exec('CREATE TABLE visits (at INTEGER)');
    storage.sql.exec('CREATE TABLE tasks (title TEXT); CREATE TABLE facts (title TEXT)');
    assert.throws(
      () => durableObjectStore(storage),
      refuses('UNUSABLE', /other tables .*: (tasks, facts|facts, tasks)\./),
    );
    storage.sql.exec('DROP TABLE tasks; DROP TABLE facts');
    for (const [taken, create, drop] of [
      ['baton', 'CREATE TABLE baton (notes TEXT)', 'DROP TABLE baton'],
      ['Tasks', 'CREATE TABLE Tasks (title TEXT)', 'DROP TABLE Tasks'],
      ['tasks_due', 'CREATE INDEX tasks_due ON visits (at)', 'DROP INDEX tasks_due'],
    ] as const) {
      storage.sql.exec(create);
      assert.throws(() => durableObjectStore(storage), refuses('UNUSABLE', new RegExp(`: ${taken}\\.`)));
      storage.sql.exec(drop);
    }
    await durableObjectStore(storage).commit(chunkAfter(0));
    assert.equal(count(storage, 'visits'), 0);
  },

  async 'cannot be used any more once the data of the object was deleted; the next one can'(storage) {
    const store = durableObjectStore(storage);
    await store.commit(chunkAfter(0));
    const identity = await store.identity();
    await storage.deleteAll();
    await assert.rejects(
      async () => store.commit(chunkAfter(1)),
      refuses('UNUSABLE', /were deleted while it was in use/),
    );
    await assert.rejects(store.identity(), refuses('UNUSABLE', /was deleted while it was in use/));
    await store.alarm();
    const next = durableObjectStore(storage);
    assert.notEqual(await next.identity(), identity);
    assert.equal(await next.load('s', 't'), undefined);
    await assert.rejects(
      async () => store.commit(chunkAfter(0)),
      refuses('UNUSABLE', /was deleted while it was in use/),
      'the new data is not that of the store before',
    );
    await next.commit(chunkAfter(0, { turn: { queue: 'q', want: true } }));
    await storage.deleteAlarm();
    await store.alarm();
    assert.equal(await storage.getAlarm(), null);
  },
};
