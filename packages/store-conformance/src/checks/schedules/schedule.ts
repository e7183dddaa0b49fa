import assert from 'node:assert/strict';
import type { Lease, TaskStore, TurnSchedule } from '@batonjs/store';
import { type Fixture, section } from '../../fixture/check.ts';
import { elapse, picked, same } from '../../fixture/expectations.ts';
import { completed, received, working } from '../../samples/facts.ts';
import { logOf, nth } from '../../samples/log.ts';
import { acquire, claim as claimBy, dueAfter, release, wanted } from '../../samples/turns.ts';

const urgent = 1_000_000;

interface Wanted {
  readonly scope?: string;
  readonly contextId?: string;
  readonly aheadMs?: number;
}

/** Creates a task that waits for a turn, in the order of a schedule. */
const want = (store: TaskStore, taskId: string, { scope, contextId, aheadMs = 0 }: Wanted = {}) =>
  logOf(store, { scope, taskId, contextId }).create({ turn: { queue: 'q', want: true, aheadMs } });

/** Creates tasks of a caller that wait for a turn: `a0`, `a1` … of the scope `a`. */
async function wantSome(store: TaskStore, scope: string, count: number): Promise<void> {
  for (let n = 0; n < count; n++) await want(store, `${scope}${n}`, { scope });
}

/** Creates tasks that wait for a turn, without the order of a schedule: `t0`, `t1` … */
async function wantPlain(store: TaskStore, count: number): Promise<void> {
  for (let n = 0; n < count; n++) await logOf(store, { taskId: `t${n}` }).create(wanted);
}

/** Creates a task that is due at a time, in the order of a schedule. */
async function postpone(store: TaskStore, taskId: string, scope: string, at: number, aheadMs = 0) {
  const log = await logOf(store, { scope, taskId }).started({ turn: { queue: 'q', aheadMs } });
  await log.commit([working()], { ...dueAfter(log, [working()], at), turn: { queue: 'q', aheadMs } });
}

let claims = 0;
const claim = (store: TaskStore, schedule: TurnSchedule | undefined, limit = 1) =>
  claimBy(store, `claim ${++claims}`, { limit, ...(schedule && { schedule }) });

/** Claims one task after another until there is none, and says which. */
async function claimAll(store: TaskStore, schedule: TurnSchedule): Promise<string[]> {
  const ids: string[] = [];
  for (;;) {
    const [lease] = await claim(store, schedule);
    if (!lease) return ids;
    ids.push(lease.taskId);
  }
}

async function end(store: TaskStore, lease: Lease): Promise<void> {
  const log = logOf(store, lease);
  await log.catchUp();
  await log.commit([completed()], { writer: lease });
}

/** Claims that race on two handles. */
const race = async ({ store, second }: Fixture, schedule: TurnSchedule): Promise<Lease[]> => {
  const handles = [store, second, store, second, second, store, second, store];
  return (await Promise.all(handles.map((handle) => claim(handle, schedule, 3)))).flat();
};

/** Of each scope, how many leases. */
function countOf(leases: readonly Lease[]) {
  const counts: Record<string, number> = {};
  for (const { scope } of leases) counts[scope] = (counts[scope] ?? 0) + 1;
  return counts;
}

export const scheduleChecks = section(
  'a schedule',
  {
    async 'lets no more turns run at once than it says, whichever handles claim'(fixture) {
      const { store, second } = fixture;
      for (const scope of ['a', 'b', 'c']) await wantSome(store, scope, 4);
      const schedule = { concurrency: 5 };
      const running = await race(fixture, schedule);
      assert.equal(running.length, 5);
      same(await claim(second, schedule, 9), []);
      await end(store, nth(running, 0));
      await end(second, nth(running, 1));
      assert.equal((await race(fixture, schedule)).length, 2);
      assert.equal(await store.waiting('q'), 5);
    },

    async 'lets no more turns of a caller run at once than it says'(fixture) {
      await wantSome(fixture.store, 'a', 9);
      await wantSome(fixture.store, 'b', 1);
      const running = await race(fixture, { perCaller: 2 });
      assert.deepEqual(countOf(running), { a: 2, b: 1 });
      const ofA = running.filter(({ scope }) => scope === 'a');
      await end(fixture.store, nth(ofA, 0));
      assert.deepEqual(countOf(await race(fixture, { perCaller: 2 })), { a: 1 });
    },

    async 'lets no more turns of a context run at once than it says'(fixture) {
      const { store } = fixture;
      for (let n = 0; n < 40; n++) await want(store, `t${n}`, { scope: 'a', contextId: 'long' });
      await want(store, 'other context', { scope: 'a', contextId: 'c' });
      await want(store, 'other caller', { scope: 'b', contextId: 'long' });
      const running: Lease[] = [];
      for (let more = await race(fixture, { perContext: 1 }); more.length > 0; ) {
        running.push(...more);
        more = await race(fixture, { perContext: 1 });
      }
      const long = running.filter(({ taskId }) => !taskId.startsWith('other'));
      assert.deepEqual([running.length, long.length], [3, 1]);
      await end(store, nth(long, 0));
      const [next, ...more] = await claim(store, { perContext: 1 }, 9);
      assert.deepEqual([next?.scope, next?.taskId.startsWith('t'), more.length], ['a', true, 0]);
    },

    async 'holds after the store was opened again'(fixture) {
      await wantSome(fixture.store, 'a', 4);
      const lease = nth(await claim(fixture.store, { concurrency: 2 }), 0);
      const store = await fixture.reopen();
      assert.equal((await claim(store, { concurrency: 2 }, 9)).length, 1);
      await end(store, lease);
      assert.equal((await claim(store, { concurrency: 2 }, 9)).length, 1);
    },

    async 'takes one task of each caller in turn, however many one of them has'({ store }) {
      await wantSome(store, 'a', 30);
      await claim(store, {});
      await wantSome(store, 'b', 2);
      await wantSome(store, 'c', 1);
      const ids = await claimAll(store, { concurrency: 100 });
      assert.deepEqual(new Set(ids.slice(0, 2).map((id) => id[0])), new Set(['b', 'c']));
      assert.deepEqual(new Set(ids.slice(2, 4).map((id) => id[0])), new Set(['a', 'b']));
      assert.ok(ids.slice(4).every((id) => id.startsWith('a')));
      assert.equal(new Set(ids).size, 32);
    },

    async 'takes one task of each caller in turn within one claim'({ store }) {
      await wantSome(store, 'a', 9);
      await wantSome(store, 'b', 3);
      assert.deepEqual(countOf(await claim(store, { concurrency: 6 }, 20)), { a: 3, b: 3 });
    },

    async 'lets a caller that sends one task at a time starve no other'({ store }) {
      await wantSome(store, 'a', 8);
      for (let n = 0; n < 6; n++) {
        await want(store, `b${n}`, { scope: 'b' });
        const two = [...(await claim(store, {})), ...(await claim(store, {}))];
        assert.deepEqual(countOf(two), { a: 1, b: 1 });
        for (const lease of two) await end(store, lease);
      }
    },

    async 'takes the more urgent tasks of a caller first, and those that have waited longer'(fixture) {
      const { store } = fixture;
      await want(store, 'old');
      await elapse(fixture, 5);
      await want(store, 'second');
      await elapse(fixture, 40);
      await want(store, 'a little urgent', { aheadMs: 10 });
      await want(store, 'urgent', { aheadMs: urgent });
      await want(store, 'new');
      assert.deepEqual(await claimAll(store, {}), ['urgent', 'old', 'second', 'a little urgent', 'new']);
    },

    async 'makes a task that waits more urgent, and never less'(fixture) {
      const { store } = fixture;
      for (const taskId of ['first', 'second', 'third']) {
        await want(store, taskId, { aheadMs: taskId === 'first' ? 10 : 0 });
        await elapse(fixture, 10);
      }
      const again = (taskId: string, aheadMs: number) =>
        logOf(store, { taskId }).append(received('m2'), 'message:m2', {
          turn: { queue: 'q', want: true, aheadMs },
        });
      await again('third', urgent);
      await again('first', 0);
      await again('second', 0);
      assert.deepEqual(await claimAll(store, {}), ['third', 'first', 'second']);
    },

    async 'orders tasks whose time has come like those that wait, and holds for them'(fixture) {
      const { store, now } = fixture;
      for (let n = 0; n < 8; n++) await postpone(store, `a${n}`, 'a', now() - 9_000 + n);
      await postpone(store, 'later', 'c', now() + 3_600_000);
      await postpone(store, 'b0', 'b', now() - 1_000);
      await wantSome(store, 'd', 1);
      const first = nth(await claim(store, { perCaller: 2 }), 0);
      assert.equal(first.cause, first.scope === 'd' ? 'wanted' : 'due');
      const rest = await claim(store, { perCaller: 2 }, 9);
      assert.deepEqual(countOf([first, ...rest]), { a: 2, b: 1, d: 1 });
      same(await claim(store, { perCaller: 2 }, 9), []);
    },

    async 'orders tasks whose time has come by their urgency too, and gives out none before its time'(
      fixture,
    ) {
      const { store, now } = fixture;
      await postpone(store, 'first', 'a', now() - 9_000);
      await postpone(store, 'urgent', 'a', now() - 5_000, urgent);
      await postpone(store, 'later', 'a', now() + 900_000, urgent);
      await postpone(store, 'last', 'a', now() - 1_000);
      assert.deepEqual(await claimAll(store, {}), ['urgent', 'first', 'last']);
    },

    async 'counts a task that was given back no more, and orders it again if it is wanted'(fixture) {
      const { store } = fixture;
      await wantSome(store, 'a', 3);
      const schedule = { concurrency: 1 };
      const lease = nth(await claim(store, schedule), 0);
      const log = logOf(store, { scope: 'a', taskId: lease.taskId });
      await log.catchUp();
      await elapse(fixture, 5);
      await log.commit([], { writer: lease, turn: { ...release(true).turn, aheadMs: 0 } });
      const order: string[] = [];
      for (let next = await claim(store, schedule); next[0]; next = await claim(store, schedule)) {
        order.push(next[0].taskId);
        await end(store, next[0]);
      }
      assert.deepEqual([order.length, order.at(-1)], [3, lease.taskId]);
    },

    async 'gives out what a dead holder left, though no more turns may start'(fixture) {
      const { store } = fixture;
      await wantSome(store, 'a', 2);
      const [dead] = await claimBy(store, 'dead', { ttlMs: 5, limit: 1, schedule: { concurrency: 1 } });
      await elapse(fixture, 20);
      const left = await claim(store, { concurrency: 1 }, 9);
      assert.deepEqual(picked(left, 'taskId', 'cause'), [[dead?.taskId, 'expired']]);
      same(await claim(store, { concurrency: 1 }, 9), []);
    },

    async 'gives a token the leases that it holds already, though no more turns may start'({ store }) {
      await wantSome(store, 'a', 2);
      const again = () => claimBy(store, 'same', { limit: 1, schedule: { concurrency: 1 } });
      const lease = nth(await again(), 0);
      same(await again(), [{ ...lease, cause: 'held' }]);
    },

    async 'counts the turns of tasks that were stored without one'({ store }) {
      await wantPlain(store, 4);
      const two = await claim(store, { concurrency: 2 }, 9);
      assert.equal(two.length, 2);
      same(await claim(store, { concurrency: 2 }, 9), []);
      await end(store, nth(two, 0));
      assert.equal((await claim(store, { concurrency: 2 }, 9)).length, 1);
    },

    async 'counts the turns that were begun without one'({ store }) {
      await wantPlain(store, 3);
      await logOf(store, { taskId: 'acquired' }).create(acquire('x'));
      assert.equal((await claim(store, undefined, 1)).length, 1);
      assert.equal((await claim(store, { concurrency: 3 }, 9)).length, 1);
    },

    async 'gives out each task that a dead holder left once, those without one too'(fixture) {
      const { store } = fixture;
      await wantPlain(store, 2);
      assert.equal((await claimBy(store, 'dead', { ttlMs: 5, schedule: {} })).length, 2);
      await elapse(fixture, 20);
      const left = await claim(store, {}, 9);
      assert.equal(picked(left, 'taskId', 'fence').toSorted().join(' '), 't0,2 t1,2');
    },

    async 'gives out what was stored without one, and is no obstacle to claims without one'(fixture) {
      const { store, second } = fixture;
      await logOf(store, { taskId: 'plain' }).create(wanted);
      await wantSome(store, 'a', 2);
      const two = await claim(store, { concurrency: 2 }, 9);
      assert.equal(two.filter(({ taskId }) => taskId === 'plain').length, 1);
      assert.equal(two.length, 2);
      assert.deepEqual(countOf(await claim(second, undefined, 9)), { a: 1 });
      same(await claim(store, { concurrency: 4 }, 9), []);
    },
  },
  ({ schedules }) => schedules,
);
