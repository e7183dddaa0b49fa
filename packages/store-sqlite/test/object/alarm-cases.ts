import assert from 'node:assert/strict';
import { chunkAfter, headAt } from '../../../../test/kit/task-logs.ts';
import { durableObjectStore } from '../../src/durable-object.ts';
import { all, type Case, held, nextStart, refuses, wanted, webhook } from './object-storage.ts';

const minute = 60_000;

/** When a store on the storage of an object sets the alarm, each on an object of its own. */
export const alarmCases: Readonly<Record<string, Case>> = {
  async 'sets the alarm while a turn waits or runs, for the time of the next task, and not without work'(
    storage,
  ) {
    let times = 0;
    const setAlarm = (at: number) => {
      times++;
      return storage.setAlarm(at);
    };
    const store = durableObjectStore({ ...nextStart(storage), setAlarm }, { recoverAfterMs: 60_000 });
    const alarmIn = async () => ((await storage.getAlarm()) ?? Number.NaN) - Date.now();
    const head = headAt(1, { closed: true });
    await store.commit(chunkAfter(0, { taskId: 'closed', head, turn: { queue: 'q' } }));
    await store.alarm();
    assert.equal(await storage.getAlarm(), null);

    const dueAt = new Date(Date.now() + 3_600_000).toISOString();
    await store.commit(chunkAfter(0, { taskId: 'due', head: headAt(1, { dueAt }), turn: { queue: 'q' } }));
    assert.equal(await storage.getAlarm(), Date.parse(dueAt));
    const soon = new Date(Date.now() + 1_800_000).toISOString();
    await store.commit(
      chunkAfter(0, { taskId: 'soon', head: headAt(1, { dueAt: soon }), turn: { queue: 'other' } }),
    );
    assert.equal(await storage.getAlarm(), Date.parse(soon));

    await store.commit(chunkAfter(0, { taskId: 'later', head: headAt(1, { dueAt }), turn: { queue: 'q' } }));
    assert.deepEqual([await storage.getAlarm(), times], [Date.parse(soon), 2]);

    await store.commit(chunkAfter(0, { taskId: 'waits', turn: wanted }));
    assert.ok((await alarmIn()) <= 60_000);
    await store.alarm();
    assert.ok((await alarmIn()) <= 60_000);
    const [lease] = await store.claim(all);
    await store.alarm();
    assert.ok((await alarmIn()) <= 60_000, 'while a turn runs');
    const end = { writer: lease!, head: headAt(2, { closed: true }) };
    await store.commit(chunkAfter(1, { taskId: 'waits', ...end }));
    await store.alarm();
    assert.equal(await storage.getAlarm(), Date.parse(soon));
  },

  async 'sets the alarm for a deadline that comes while a turn runs, long before the turn would be recovered'(
    storage,
  ) {
    const store = durableObjectStore(storage, { recoverAfterMs: 60 * minute });
    await store.commit(chunkAfter(0, { taskId: 'runs', turn: held }));
    assert.ok((await storage.getAlarm())! > Date.now() + 50 * minute);
    const dueAt = new Date(Date.now() + 5 * minute).toISOString();
    await store.commit(chunkAfter(0, { taskId: 'due', head: headAt(1, { dueAt }), turn: { queue: 'q' } }));
    assert.equal(await storage.getAlarm(), Date.parse(dueAt));
    await store.alarm();
    assert.equal(await storage.getAlarm(), Date.parse(dueAt));
  },

  async 'sets the alarm for a webhook that has to be told again'(storage) {
    const store = durableObjectStore(storage);
    await store.putPushConfig(webhook);
    await store.commit(chunkAfter(0));
    const [delivery] = await store.claimDeliveries(all);
    await store.alarm();
    assert.ok((await storage.getAlarm())! <= Date.now() + minute, 'while it is told');
    const retryAt = new Date(Date.now() + 3_600_000).toISOString();
    await store.advance(delivery!, { attempts: 1, retryAt });
    await store.alarm();
    assert.equal(await storage.getAlarm(), Date.parse(retryAt));
  },

  async 'sets no alarm for a record'(storage) {
    const store = durableObjectStore(storage);
    await store.putRecord('retention', 0, {}, { ttlMs: minute });
    await store.alarm();
    assert.equal(await storage.getAlarm(), null);
  },

  async 'sets the alarm later and later for tasks and webhooks that no agent takes'(storage) {
    const store = durableObjectStore(storage);
    const setAfter = async () => {
      const before = Date.now();
      await store.alarm();
      return ((await storage.getAlarm()) ?? Number.NaN) - before;
    };
    const age = (table: string, column: string, ms: number) =>
      storage.sql.exec(`UPDATE ${table} SET ${column} = ${column} - ? WHERE ${column} IS NOT NULL`, ms);
    await store.commit(chunkAfter(0, { turn: wanted }));
    age('tasks', 'waiting_since', 10 * minute);
    assert.ok((await setAfter()) >= 10 * minute);
    age('tasks', 'waiting_since', 100_000 * minute);
    const latest = await setAfter();
    assert.ok(latest >= 60 * minute && latest < 100_000 * minute, 'once an hour at least');

    const dueAt = new Date(Date.now() + 20 * minute).toISOString();
    const due = { taskId: 'due', head: headAt(1, { dueAt }), turn: { queue: 'q' } };
    await store.commit(chunkAfter(0, due));
    await store.alarm();
    assert.equal(await storage.getAlarm(), Date.parse(dueAt), 'for others in time');

    await store.commit(chunkAfter(0, { taskId: 'lost', turn: held }));
    await store.alarm();
    assert.ok((await storage.getAlarm())! <= Date.now() + minute, 'soon while a turn runs');
    const next = durableObjectStore(nextStart(storage));
    await next.alarm();
    assert.ok((await storage.getAlarm())! <= Date.now() + minute, 'soon after the object was started');
    age('tasks', 'leased_at', 10 * minute);
    await durableObjectStore(nextStart(storage)).alarm();
    assert.ok((await storage.getAlarm())! > Date.now() + 5 * minute, 'a turn that no object takes over');

    await store.putPushConfig({ ...webhook, taskId: 'due' });
    await store.alarm();
    assert.ok((await storage.getAlarm())! <= Date.now() + minute);
  },

  async 'sets the alarm again that Cloudflare gave up, at the first claim, and moves no other'(storage) {
    const dueAt = new Date(Date.now() + 60 * minute).toISOString();
    const due = { head: headAt(1, { dueAt }), turn: { queue: 'q' } };
    await durableObjectStore(storage).commit(chunkAfter(0, due));
    const soon = Date.now() + 10 * minute;
    await storage.setAlarm(soon);
    assert.deepEqual(await durableObjectStore(nextStart(storage)).claim(all), []);
    assert.equal(await storage.getAlarm(), soon);
    await storage.deleteAlarm();
    assert.deepEqual(await durableObjectStore(nextStart(storage)).claim(all), []);
    assert.equal(await storage.getAlarm(), Date.parse(dueAt));
  },

  async 'sets the alarm with the next write after one that could not be set'(storage) {
    let fails = true;
    const setAlarm = async (at: number) => {
      if (fails) throw new Error('Network connection lost');
      await storage.setAlarm(at);
    };
    const store = durableObjectStore({ ...nextStart(storage), setAlarm });
    const rejected = store.commit(chunkAfter(0, { turn: wanted }));
    await assert.rejects(async () => rejected, refuses('UNAVAILABLE', /Network connection lost/));
    assert.equal((await store.load('s', 't'))?.version, 1);
    fails = false;
    await store.commit(chunkAfter(1));
    assert.ok((await storage.getAlarm())! <= Date.now() + minute);
  },

  async 'sets an alarm for a time that is later than an alarm can be'(storage) {
    const store = durableObjectStore(storage);
    for (const [n, dueAt] of ['2400-01-01T00:00:00.000Z', '+275760-09-13T00:00:00.000Z'].entries()) {
      await store.commit(
        chunkAfter(0, { taskId: `t${n}`, head: headAt(1, { dueAt }), turn: { queue: 'q' } }),
      );
      await store.alarm();
      const at = (await storage.getAlarm()) ?? 0;
      assert.ok(at > Date.now() + 60 * minute && at < Date.parse(dueAt));
    }
  },
};
