import assert from 'node:assert/strict';
import type { TaskState } from '@batonjs/protocol';
import { statesOf } from '@batonjs/store/rules';
import { section } from '../fixture/check.ts';
import { idsOf, same, walk } from '../fixture/expectations.ts';
import { answered, at, chunk, completed, created, received, status, working } from '../samples/facts.ts';
import { logOf, nth } from '../samples/log.ts';

export const listChecks = section('list', {
  async 'is empty where there is nothing'({ store }) {
    await logOf(store, { scope: 'other' }).create();
    same(await store.list('s', { limit: 10 }), { tasks: [], total: 0 });
  },

  async 'gives id, head and the fact that set the status'({ store }) {
    const log = await logOf(store).started();
    await log.commit([chunk(1), working(at(5)), chunk(2)], { commitId: 'x' });
    same(await store.list('s', { limit: 10 }), {
      tasks: [{ taskId: 't', head: log.head, fact: { version: 4, commitId: 'x', fact: working(at(5)) } }],
      total: 1,
    });
  },

  async 'puts the newest status first, and of equals the larger id'({ store }) {
    for (const [taskId, ms] of [
      ['b', 10],
      ['a', 10],
      ['c', 5],
      ['d', 20],
      ['e', 10],
    ] as const) {
      await logOf(store, { taskId }).commit([received(), created(taskId, 'c', at(ms))]);
    }
    assert.deepEqual(idsOf((await store.list('s', { limit: 10 })).tasks), ['d', 'e', 'b', 'a', 'c']);
  },

  async 'moves a task when its status changes, and only then'({ store }) {
    const [a, b] = [logOf(store, { taskId: 'a' }), logOf(store, { taskId: 'b' })];
    for (const [n, log] of [a, b].entries()) await log.commit([received(), created(log.taskId, 'c', at(n))]);
    await a.commit([working(at(9))]);
    await b.commit([{ ...chunk(1), at: at(20) }]);
    const { tasks } = await store.list('s', { limit: 10 });
    assert.deepEqual(
      tasks.map(({ taskId, head }) => [taskId, head.state]),
      [
        ['a', 'TASK_STATE_WORKING'],
        ['b', 'TASK_STATE_SUBMITTED'],
      ],
    );
  },

  async 'filters by context, state and time of the status, together too'({ store }) {
    const make = async (taskId: string, contextId: string, ms: number) => {
      const log = logOf(store, { taskId, contextId });
      await log.commit([received('m1', contextId), created(taskId, contextId, at(0))]);
      await log.commit([ms % 2 ? completed(at(ms)) : working(at(ms))]);
    };
    for (let n = 1; n <= 8; n++) await make(`t${n}`, n <= 4 ? 'c1' : 'c2', n);
    const found = async (query: object) =>
      idsOf((await store.list('s', { limit: 10, ...query })).tasks).join(' ');
    assert.equal(await found({ contextId: 'c1' }), 't4 t3 t2 t1');
    assert.equal(await found({ state: 'TASK_STATE_COMPLETED' }), 't7 t5 t3 t1');
    assert.equal(await found({ statusSince: at(6) }), 't8 t7 t6');
    assert.equal(await found({ contextId: 'c2', state: 'TASK_STATE_WORKING' }), 't8 t6');
    assert.equal(await found({ contextId: 'c1', state: 'TASK_STATE_COMPLETED', statusSince: at(2) }), 't3');
    assert.equal(await found({ contextId: 'nothing' }), '');
    assert.equal(await found({ contextId: '' }), '');
    assert.equal((await store.list('s', { limit: 1, contextId: 'c2', statusSince: at(6) })).total, 3);
    const total = async (query: object) => (await store.list('s', { limit: 1, ...query })).total;
    assert.equal(await total({ contextId: 'c1', state: 'TASK_STATE_COMPLETED' }), 2);
    await logOf(store, { taskId: 'message', contextId: 'c1' }).commit([
      received('m1', 'c1'),
      answered(at(9)),
    ]);
    assert.deepEqual(
      [await total({ contextId: 'c1' }), await total({ contextId: 'c1', answered: true })],
      [4, 5],
    );
    await make('!', 'c2', 6);
    assert.equal((await store.list('s', { limit: 1, contextId: 'c2', statusSince: at(6) })).total, 4);
  },

  async 'merges tasks of all states, each once'({ store }) {
    const states = statesOf({}) as TaskState[];
    for (const [n, state] of states.entries()) {
      const log = await logOf(store, { taskId: `t${n}`, contextId: `c${n % 2}` }).started();
      await log.commit([status(state, at(n))]);
    }
    const newestFirst = states.map((_, n) => `t${n}`).toReversed();
    const all = await store.list('s', { limit: 99 });
    assert.deepEqual([idsOf(all.tasks), all.total], [newestFirst, states.length]);
    const first = await store.list('s', { limit: 2 });
    assert.deepEqual(idsOf(first.tasks), newestFirst.slice(0, 2));
  },

  async 'pages without gaps and overlaps, and says on each page how many there are'({ store }) {
    const ids = Array.from({ length: 11 }, (_, n) => `t${String(n).padStart(2, '0')}`);
    for (const [n, taskId] of ids.entries())
      await logOf(store, { taskId }).commit([received(), created(taskId, 'c', at(Math.floor(n / 4)))]);
    for (const limit of [1, 2, 3, 4, 5, 10, 11, 12]) {
      const pages = await walk(store, 's', { limit });
      assert.deepEqual(
        pages.flatMap(({ tasks }) => idsOf(tasks)),
        ids.toReversed(),
      );
      for (const { total } of pages) assert.equal(total, 11);
      for (const { tasks } of pages.slice(0, -1)) assert.equal(tasks.length, limit);
    }
  },

  async 'goes on from a position whether or not a task is there any more'({ store }) {
    const logs = ['a', 'b', 'c', 'd'].map((taskId) => logOf(store, { taskId }));
    for (const [n, log] of logs.entries()) await log.commit([received(), created(log.taskId, 'c', at(n))]);
    const { tasks } = await store.list('s', { limit: 2 });
    assert.deepEqual(idsOf(tasks), ['d', 'c']);
    await nth(logs, 2).commit([working(at(9))]);
    const { head, taskId } = nth(tasks, 1);
    const after = { statusAt: head.statusAt, taskId };
    const next = await store.list('s', { limit: 2, after });
    assert.deepEqual(idsOf(next.tasks), ['b', 'a']);
    assert.equal(next.total, 4);
  },

  async 'ends a page early at so many bytes of facts, not before its first task, and says so'({ store }) {
    const ids = ['a', 'b', 'c', 'd'];
    for (const [n, taskId] of ids.entries()) {
      const log = await logOf(store, { taskId }).started();
      const length = taskId === 'b' ? 9_000 : 1_000;
      const large = { ...working(at(n)), metadata: { text: 'x'.repeat(length) } };
      await log.commit([large]);
    }
    const shown = async (bytes: number, limit = 9) => {
      const { tasks, total, isCut } = await store.list('s', { limit, bytes });
      assert.equal(total, 4);
      return idsOf(tasks).join('') + (isCut ? '…' : '');
    };
    assert.equal(await shown(100_000), 'dcba');
    assert.equal(await shown(6_000), 'dc…');
    assert.equal(await shown(6_000, 2), 'dc');
    assert.equal(await shown(1), 'd…');
    const pages = await walk(store, 's', { limit: 9, bytes: 1 });
    assert.deepEqual(
      pages.map(({ tasks }) => idsOf(tasks)),
      [['d'], ['c'], ['b'], ['a']],
    );
  },

  async 'shows logs that are no tasks only to those who ask for them'({ store }) {
    await logOf(store, { taskId: 'task' }).create();
    await logOf(store, { taskId: 'begun' }).commit([received('m', 'c', at(1))]);
    const message = logOf(store, { taskId: 'message' });
    await message.commit([received('m', 'c', at(2)), answered(at(3))]);
    const ids = async (query: object) =>
      idsOf((await store.list('s', { limit: 9, ...query })).tasks).join(' ');
    assert.equal(await ids({}), 'task');
    assert.equal(await ids({ answered: true }), 'message begun task');
    assert.equal(await ids({ answered: true, contextId: 'c', statusSince: at(2) }), 'message');
    assert.equal((await store.list('s', { limit: 1 })).total, 1);
    const page = await store.list('s', { limit: 1, answered: true });
    assert.equal(page.total, 3);
    same(page.tasks[0]?.fact?.fact, answered(at(3)));
  },

  async 'lets a log that becomes a task appear'({ store }) {
    const log = logOf(store);
    await log.commit([received()]);
    assert.equal((await store.list('s', { limit: 9 })).total, 0);
    await log.commit([created()]);
    same(idsOf((await store.list('s', { limit: 9 })).tasks), ['t']);
    assert.equal((await store.list('s', { limit: 9, answered: true })).total, 1);
  },

  async 'may stop counting where the caller needs no larger total'({ store }) {
    for (let n = 0; n < 5; n++)
      await logOf(store, { taskId: `t${n}` }).commit([received(), created('t', 'c')]);
    for (const more of [
      {},
      { contextId: 'c' },
      { statusSince: at(0) },
      { state: 'TASK_STATE_SUBMITTED' as const },
    ]) {
      const query = { limit: 2, ...more };
      const exact = await store.list('s', query);
      assert.equal(exact.total, 5);
      for (const totalAtMost of [0, 3, 5, 9]) {
        const { total, ...page } = await store.list('s', { ...query, totalAtMost });
        same(page, { tasks: exact.tasks });
        const least = Math.min(totalAtMost, 5);
        assert.ok(total >= least && total <= 5, `counted ${total} of 5, where ${totalAtMost} are needed`);
      }
    }
  },

  async 'sees what another handle did, at once'({ store, second, reopen }) {
    const log = await logOf(store).started();
    assert.equal((await second.list('s', { limit: 9 })).total, 1);
    await log.commit([status('TASK_STATE_FAILED', at(7))]);
    const failed = { limit: 9, state: 'TASK_STATE_FAILED' } as const;
    const seen = await second.list('s', failed);
    assert.equal(seen.tasks[0]?.head.statusAt, at(7));
    same(await (await reopen()).list('s', failed), seen);
  },
});
