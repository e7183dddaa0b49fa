import { expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../src/database/open-database.ts';
import { sqliteStore } from '../../src/index.ts';
import { storeOnDatabase } from '../../src/sqlite-store.ts';
import { leasesOf } from '../../src/tables/leases.ts';
import { chunk, commitOf, complete, create, received } from '../logs.ts';

const claim = { queue: 'q', holder: 'h', ttlMs: 60_000, limit: 1 };
const wanted = { turn: { queue: 'q', want: true } };

it('a task is claimed by its id even if others have the same id in other scopes', async () => {
  const store = sqliteStore(':memory:');
  onTestFinished(() => store.close());
  for (const scope of ['a', 'b', 'd']) await create(store, 't', { scope, turn: { queue: 'q' } });
  await create(store, 't', { ...wanted, scope: 'c' });
  expect(await store.claim({ ...claim, task: { scope: 'c', taskId: 't' } })).toMatchObject([
    { scope: 'c', taskId: 't' },
  ]);
});

it('tasks are claimed in the order in which they became ready, whatever made them so', async () => {
  let time = 1_000;
  const store = sqliteStore(':memory:', { now: () => time, monotonic: () => time });
  onTestFinished(() => store.close());
  await create(store, 'left', { turn: { queue: 'q', acquire: { holder: 'dead', ttlMs: 50 } } });
  await create(store, 'finished', wanted);
  await create(store, 'first', wanted);
  await complete(store, 'finished', 1);
  time = 2_000;
  await create(store, 'last', wanted);
  // Wanted once more, but waiting since it was wanted first.
  await store.commit(commitOf('first', 1, [chunk(1)], wanted));
  const claimed = [];
  for (let n = 0; n < 4; n++) claimed.push(...(await store.claim({ ...claim, holder: `h${n}` })));
  expect(claimed.map(({ taskId }) => taskId)).toEqual(['first', 'left', 'last']);
});

/** A store on a clock of its own, and what one claim of another holder each time gives out. */
function onClock() {
  const time = { now: 1_000 };
  const store = sqliteStore(':memory:', { now: () => time.now, monotonic: () => time.now });
  onTestFinished(() => store.close());
  let holders = 0;
  const next = async (more: object = {}) => {
    const leases = await store.claim({ ...claim, holder: `h${++holders}`, ...more });
    return leases.map(({ scope, taskId }) => `${scope} ${taskId}`);
  };
  return { time, store, next };
}
const schedule = { schedule: { concurrency: 9 } };
const ordered = { turn: { queue: 'q', want: true, aheadMs: 0 } };

it('of tasks that became ready at the same time, the one that was created first is claimed first', async () => {
  const { store, next } = onClock();
  for (const taskId of ['b', 'a']) await create(store, taskId, wanted);
  expect(await next({ limit: 2 })).toEqual(['s b', 's a']);
  const dueAt = new Date(1_000).toISOString();
  for (const taskId of ['d', 'c']) {
    const due = commitOf(taskId, 0, [received], { turn: { queue: 'q' } });
    await store.commit({ ...due, head: { ...due.head!, dueAt } });
  }
  expect(await next({ limit: 2 })).toEqual(['s d', 's c']);
});

it('a holder that asks for one task gets no other one that it holds', async () => {
  const { store, next } = onClock();
  for (const taskId of ['t', 'u']) await create(store, taskId, wanted);
  await next({ holder: 'h', limit: 9 });
  expect(await next({ holder: 'h', limit: 9, task: { scope: 's', taskId: 'u' } })).toEqual(['s u']);
  expect(await next({ holder: 'h', limit: 9, task: { scope: 'other', taskId: 'u' } })).toEqual([]);
});

it('a task that no schedule orders is no turn of its caller', async () => {
  const { store, time, next } = onClock();
  await create(store, 'plain', { scope: 'a', ...wanted });
  for (const scope of ['a', 'b']) {
    time.now++;
    await create(store, 'ordered', { scope, ...ordered });
  }
  expect(await next({ task: { scope: 'a', taskId: 'plain' } })).toEqual(['a plain']);
  expect(await next(schedule)).toEqual(['a ordered']);
});

it('a lease that its holder has already is no further turn of its caller', async () => {
  const { store, time, next } = onClock();
  for (const taskId of ['first', 'second']) {
    for (const scope of ['a', 'b']) {
      time.now++;
      await create(store, taskId, { scope, ...ordered });
    }
  }
  expect(await next({ holder: 'h', ...schedule, limit: 2 })).toEqual(['a first', 'b first']);
  expect(await next({ holder: 'h', task: { scope: 'a', taskId: 'first' } })).toEqual(['a first']);
  expect(await next(schedule)).toEqual(['a second']);
});

it('a schedule passes over leases that their holders are about to renew', async () => {
  const { store, time, next } = onClock();
  for (const holder of ['kept', 'dead'])
    await create(store, holder, { turn: { queue: 'q', aheadMs: 0, acquire: { holder, ttlMs: 10 } } });
  time.now += 20;
  const isKept = (holder: string) => holder === 'kept';
  expect(await next({ ...schedule, isKept })).toEqual(['s dead']);
});

it('where no other process can have a lease, all are ended: of turns, and of deliveries', async () => {
  const db = openDatabase(':memory:', 'normal');
  const now = () => 1_000;
  const store = storeOnDatabase(db, { name: 'memory', shared: false, now, monotonic: now });
  onTestFinished(() => store.close());
  const config = { taskId: 't', id: 'w', url: 'https://example.com/' };
  const webhook = { scope: 's', taskId: 't', id: 'w', config, protocolVersion: '1.0', queue: 'q', cursor: 0 };
  await store.putPushConfig(webhook);
  await create(store, 't', { turn: { queue: 'q', acquire: { holder: 'dead', ttlMs: 60_000 } } });
  const next = async () => [
    (await store.claim({ ...claim, holder: 'next' })).map(({ cause }) => cause),
    (await store.claimDeliveries({ ...claim, holder: 'next' })).length,
  ];
  expect((await store.claimDeliveries({ ...claim, holder: 'dead' })).length).toBe(1);
  expect(await next()).toEqual([[], 0]);
  leasesOf(db).endAll(now());
  expect(await next()).toEqual([['expired'], 1]);
});
