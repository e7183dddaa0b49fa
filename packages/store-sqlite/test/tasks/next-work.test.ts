import { expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../src/database/open-database.ts';
import { nextWorkOf } from '../../src/object/alarm.ts';
import { storeOnDatabase } from '../../src/sqlite-store.ts';
import { commitOf, create, received } from '../logs.ts';

const ttlMs = 60_000;

/** A store on a clock that stands still at 1,000,000 until it is moved, and its next work. */
function open() {
  const time = { now: 1_000_000 };
  const now = () => time.now;
  const db = openDatabase(':memory:', 'normal');
  const store = storeOnDatabase(db, { name: 'memory', shared: false, now, monotonic: now });
  onTestFinished(() => store.close());
  const work = nextWorkOf(db);
  const due = (taskId: string, at: number, queue = 'q') => {
    const commit = commitOf(taskId, 0, [received], { turn: { queue } });
    return store.commit({ ...commit, head: { ...commit.head!, dueAt: new Date(at).toISOString() } });
  };
  const hold = (taskId: string, queue = 'q') =>
    create(store, taskId, { turn: { queue, acquire: { holder: 'h', ttlMs } } });
  return { time, store, due, hold, next: () => work(time.now) };
}

it('the next work is the first that will be due, in any queue', async () => {
  const { due, next } = open();
  expect(next()).toEqual({ isRunning: false });
  await due('late', 1_000_900, 'a');
  await due('first', 1_000_300, 'b');
  await due('later', 1_000_500, 'c');
  expect(next()).toEqual({ isRunning: false, dueAt: 1_000_300 });
});

it('what is due or waits is ready since the newest began, beside what comes', async () => {
  const { time, store, due, next } = open();
  await due('first', 1_000_300);
  await due('later', 1_000_500);
  time.now = 1_000_300;
  expect(next()).toEqual({ isRunning: false, readySince: 1_000_300, dueAt: 1_000_500 });
  time.now = 1_000_400;
  await create(store, 'waits', { turn: { queue: 'a', want: true } });
  expect(next()).toEqual({ isRunning: false, readySince: 1_000_400, dueAt: 1_000_500 });
});

it('of all that is due, in any queue, the newest is ready last', async () => {
  const { time, due, next } = open();
  for (const [n, queue] of ['b', 'a', 'c', 'a'].entries()) await due(`t${n}`, 1_000_100 + (n % 3), queue);
  await due('later', 1_000_700, 'a');
  time.now = 1_000_500;
  expect(next()).toEqual({ isRunning: false, readySince: 1_000_102, dueAt: 1_000_700 });
});

it('a turn runs until its lease is over, and is ready then since it was leased', async () => {
  const { time, hold, next } = open();
  await hold('t');
  expect(next()).toEqual({ isRunning: true });
  time.now += ttlMs - 1;
  expect(next()).toEqual({ isRunning: true });
  time.now += 1;
  expect(next()).toEqual({ isRunning: false, readySince: 1_000_000 });
});

it('a turn whose lease is over does not hide one that runs', async () => {
  const { time, hold, next } = open();
  await hold('over', 'a');
  time.now += 10;
  await hold('runs', 'b');
  time.now += ttlMs - 1;
  expect(next()).toEqual({ isRunning: true });
});

it('a delivery runs until its lease is over, and is ready then', async () => {
  const { time, store, next } = open();
  const config = { taskId: 't', id: 'w', url: 'https://example.com/' };
  const webhook = { scope: 's', taskId: 't', id: 'w', config, protocolVersion: '1.0', queue: 'q', cursor: 0 };
  await store.putPushConfig(webhook);
  await create(store, 't');
  expect(next()).toEqual({ isRunning: false, readySince: 1_000_000 });
  await store.claimDeliveries({ queue: 'q', holder: 'h', ttlMs, limit: 1 });
  expect(next()).toEqual({ isRunning: true, dueAt: 1_000_000 + ttlMs });
  time.now += ttlMs;
  expect(next()).toEqual({ isRunning: false, readySince: time.now });
});
