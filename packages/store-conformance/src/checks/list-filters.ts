import assert from 'node:assert/strict';
import type { TaskQuery, TaskStore } from '@batonjs/store';
import { section } from '../fixture/check.ts';
import { foundOf, idsOf, refuses } from '../fixture/expectations.ts';
import {
  answered,
  at,
  chunk,
  completed,
  created,
  failedWith,
  forSkill,
  received,
  working,
} from '../samples/facts.ts';
import { logOf } from '../samples/log.ts';

/** What a page shows with one more member of a query: its tasks, and how many there are in all. */
interface Shown {
  readonly query: Partial<TaskQuery>;
  readonly ids: string;
  readonly total: number;
}

/** All of them but `text`, which not every store has: a member that is added is a row here, which an adapter that forgets it does not pass. */
const rows: Readonly<Record<Exclude<keyof TaskQuery, 'text'>, Shown>> = {
  contextId: { query: { contextId: 'c1' }, ids: 't2 t1', total: 2 },
  state: { query: { state: 'TASK_STATE_COMPLETED' }, ids: 't3 t1', total: 2 },
  statusSince: { query: { statusSince: at(3) }, ids: 't4 t3', total: 2 },
  answered: { query: { answered: true }, ids: 't5 t4 t3 t2 t1', total: 5 },
  labels: { query: { labels: ['odd', 'early'] }, ids: 't1', total: 1 },
  skill: { query: { skill: 'pay' }, ids: 't3 t2', total: 2 },
  code: { query: { code: 'NO_FUNDS' }, ids: 't4', total: 1 },
  limit: { query: { limit: 3 }, ids: 't4 t3 t2', total: 4 },
  bytes: { query: { bytes: 1 }, ids: 't4', total: 4 },
  after: { query: { after: { statusAt: at(3), taskId: 't3' } }, ids: 't2 t1', total: 4 },
  // The total may be as much as asked for, or more.
  totalAtMost: { query: { totalAtMost: 4 }, ids: 't4 t3 t2 t1', total: 4 },
};

export const listFilterChecks = section('list', {
  async 'heeds each member of a query'({ store }) {
    for (let n = 1; n <= 4; n += 1) {
      const contextId = n <= 2 ? 'c1' : 'c2';
      const log = logOf(store, { taskId: `t${n}`, contextId });
      log.labels = [...(n % 2 ? ['odd'] : []), ...(n <= 2 ? ['early'] : [])];
      const message = received('m1', contextId);
      await log.commit([
        n === 2 || n === 3 ? forSkill(message, 'pay') : message,
        created(`t${n}`, contextId, at(0)),
      ]);
      await log.commit([n % 2 ? completed(at(n)) : n === 2 ? working(at(n)) : failedWith('NO_FUNDS', at(n))]);
    }
    await logOf(store, { taskId: 't5', contextId: 'c2' }).commit([received('m1', 'c2'), answered(at(5))]);
    const everything = { limit: 10 };
    for (const [member, { query, ids, total }] of Object.entries(rows)) {
      const page = await store.list('s', { ...everything, ...query });
      assert.equal(idsOf(page.tasks).join(' '), ids, member);
      assert.equal(page.total, total, member);
    }
  },

  async 'finds tasks by their labels, in each scope its own, with every other filter too'({ store, second }) {
    for (let n = 1; n <= 9; n += 1) {
      const log = logOf(store, { taskId: `t${n}`, contextId: n < 6 ? 'c1' : 'c2' });
      log.labels = ['all', n % 3 ? 'few' : 'fewer'];
      await log.commit([received('m1', log.contextId), created(log.taskId, log.contextId, at(0))]);
      await log.commit([n % 2 ? completed(at(n)) : working(at(n))]);
    }
    const other = logOf(store, { scope: 'other', taskId: 't0' });
    other.labels = ['few'];
    await other.create();
    const found = (query: Partial<TaskQuery>) => foundOf(second, query);
    assert.equal(await found({ labels: [] }), 't9 t8 t7 t6 t5 t4 t3 t2 t1');
    assert.equal(await found({ labels: ['all'] }), 't9 t8 t7 t6 t5 t4 t3 t2 t1');
    assert.equal(await found({ labels: ['fewer'] }), 't9 t6 t3');
    assert.equal(await found({ labels: ['fewer', 'all', 'fewer'] }), 't9 t6 t3');
    assert.equal(await found({ labels: ['all', 'few'], contextId: 'c1' }), 't5 t4 t2 t1');
    assert.equal(await found({ labels: ['few'], contextId: 'c2', statusSince: at(8) }), 't8');
    assert.equal(await found({ labels: ['all', 'few'], state: 'TASK_STATE_WORKING' }), 't8 t4 t2');
    assert.equal(await found({ labels: ['all', 'few'], statusSince: at(5) }), 't8 t7 t5');
    assert.equal(await found({ labels: ['all', 'few'], bytes: 1 }), 't8 t7 t5 t4 t2 t1');
    assert.equal(await found({ labels: ['few', 'fewer'] }), '');
    assert.equal(await found({ labels: ['fe'] }), '');
    assert.equal(await found({ labels: ['nothing'], contextId: 'c1' }), '');
    for (const labels of [['all'], ['all', 'few']]) {
      const { total, tasks } = await store.list('s', { limit: 2, labels, totalAtMost: 3 });
      assert.ok(total >= 3 && total <= 9, `counted ${total}, where 3 are needed`);
      assert.equal(tasks.length, 2);
    }
  },

  async 'finds a task by the labels that it has now, and a log that is no task only where those are asked for'({
    store,
    second,
  }) {
    const found = async (label: string, more: Partial<TaskQuery> = {}) => {
      const { tasks } = await second.list('s', { limit: 9, labels: [label], ...more });
      return tasks.map(({ taskId, head }) => `${taskId} ${head.labels?.join(' ')}`);
    };
    const log = logOf(store);
    log.labels = ['early', 'kept'];
    await log.commit([received()]);
    assert.deepEqual(await found('early'), []);
    assert.deepEqual(await found('early', { answered: true }), ['t early kept']);
    await log.commit([created()]);
    assert.deepEqual(await found('early'), ['t early kept']);
    log.labels = ['kept', 'late'];
    await log.commit([{ ...chunk(1), at: at(5) }]);
    assert.deepEqual(await found('early', { answered: true }), []);
    assert.deepEqual(await found('late'), ['t kept late']);
    log.labels = [];
    await log.commit([working(at(6))]);
    assert.deepEqual([...(await found('kept')), ...(await found('late'))], []);
  },

  async 'finds nothing by the labels of a task that is deleted'({ store }) {
    const log = logOf(store);
    log.labels = ['eu', 'invoice'];
    await log.create();
    await log.commit([completed(at(5))]);
    const labels = [['eu'], ['eu', 'invoice']];
    const totals = () =>
      Promise.all(labels.map(async (some) => (await store.list('s', { limit: 9, labels: some })).total));
    assert.deepEqual(await totals(), [1, 1]);
    await store.prune({ closedBefore: at(9), limit: 9 });
    assert.deepEqual(await totals(), [0, 0]);
  },
});

/** What searches find among these texts, newest first; undefined: it was never searched. */
const texts: Readonly<Record<string, string>> = {
  t1: 'Refund invoice INV-42 for Zoë, café Über-Straße',
  t2: '请帮我退款，订单号 42',
  t3: 'refunds? "AND" OR (NOT) NEAR * ^ : \' \\ ; DROP TABLE tasks -- %_ \u0000 \ud800',
  t4: 'Возврат денег по счёту; ΟΔΟΣ; ガ; ภาษาไทย',
};

const found: readonly (readonly [typed: string, ids: string])[] = [
  ['refund', 't3 t1'],
  ['REFUND inv', 't1'],
  ['inv refund zoe cafe uber strasse', 't1'],
  ['caf\u0065\u0301', 't1'],
  ['42', 't2 t1'],
  ['voice', ''],
  ['退款', 't2'],
  ['退', 't2'],
  ['号', 't2'],
  ['订单号42', 't2'],
  ['退单', ''],
  ['возв счету', 't4'],
  ['οδος', 't4'],
  ['οδ', 't4'],
  ['ｶﾞ', 't4'],
  ['ไทย', 't4'],
  ['"and"', 't3'],
  ['AND OR NOT', 't3'],
  ['NEAR(refunds drop, 5)', ''],
  ['words:refund*', ''],
  ['refund*', 't3 t1'],
  ['-- drop', 't3'],
  ["'' OR 1=1", ''],
  ['"', ''],
  ['*', ''],
  ['\u0000', ''],
  ['', ''],
];

const canSearch = async (store: TaskStore): Promise<boolean> => (await store.searchesText?.()) ?? false;

async function begin(store: TaskStore, taskId: string, text: string, contextId = 'c'): Promise<void> {
  const log = logOf(store, { taskId, contextId });
  const n = Number(taskId.slice(1));
  await log.create({ text });
  await log.commit([n % 2 ? completed(at(n)) : working(at(n))]);
}

const refusalChecks = section('list', {
  async 'refuses a search by text, unless it has one'({ store }) {
    const asked = store.list('s', { limit: 9, text: 'refund' });
    if (await canSearch(store)) assert.deepEqual((await asked).tasks, []);
    else await refuses('UNUSABLE', asked);
  },
});

const foundChecks = section(
  'list',
  {
    async 'finds tasks whose first message has words with all of the prefixes'({ store, second }) {
      for (const [taskId, text] of Object.entries(texts)) await begin(store, taskId, text);
      await logOf(store, { taskId: 't5' }).create();
      for (const [text, ids] of found) {
        const { tasks, total } = await second.list('s', { limit: 9, text });
        assert.equal(idsOf(tasks).join(' '), ids, text);
        assert.equal(total, tasks.length, text);
      }
      assert.equal((await second.list('s', { limit: 9 })).total, 5);
    },

    async 'finds them in each scope its own, page by page, with every other filter too'({ store, second }) {
      for (let n = 1; n <= 9; n += 1)
        await begin(store, `t${n}`, n % 3 ? 'a few invoices' : 'fewer', n < 6 ? 'c1' : 'c2');
      const labeled = logOf(store, { taskId: 'u', contextId: 'c1' });
      labeled.labels = ['eu'];
      await labeled.create({ text: 'invoice' });
      await logOf(store, { scope: 'other', taskId: 't0' }).create({ text: 'few invoices' });
      const answer = logOf(store, { taskId: 'v' });
      await answer.commit([received('m1', answer.contextId), answered(at(9))], { text: 'invoice' });
      const ids = (query: Partial<TaskQuery>) => foundOf(second, query);
      assert.equal(await ids({ text: 'few' }), 't9 t8 t7 t6 t5 t4 t3 t2 t1');
      assert.equal(await ids({ text: 'few invoice' }), 't8 t7 t5 t4 t2 t1');
      assert.equal(await ids({ text: 'few', contextId: 'c1' }), 't5 t4 t3 t2 t1');
      assert.equal(await ids({ text: 'invoice', contextId: 'c2', statusSince: at(8) }), 't8');
      assert.equal(await ids({ text: 'invoice', state: 'TASK_STATE_WORKING' }), 't8 t4 t2');
      assert.equal(await ids({ text: 'invoice', statusSince: at(5) }), 't8 t7 t5');
      assert.equal(await ids({ text: 'invoice', labels: ['eu'] }), 'u');
      assert.equal(await ids({ text: 'few', labels: ['eu'] }), '');
      assert.equal(await ids({ text: 'invoice', labels: ['eu'], contextId: 'c1' }), 'u');
      assert.equal(await ids({ text: 'invoice', statusSince: at(8), answered: true }), 'v t8');
      const { total, tasks } = await second.list('s', { limit: 2, text: 'few', totalAtMost: 3 });
      assert.ok(total >= 3 && total <= 9, `counted ${total}, where 3 are needed`);
      assert.equal(tasks.length, 2);
    },

    async 'finds nothing by the text of a task that is deleted, and takes a text with the first commit only'({
      store,
      second,
    }) {
      const total = async () => (await second.list('s', { limit: 9, text: 'refund' })).total;
      const log = await logOf(store).started({ text: 'refund' });
      await refuses('INVALID_COMMIT', log.commit([working(at(1))], { text: 'again' }));
      await refuses('VERSION_CONFLICT', logOf(store).create({ text: 'refund' }));
      await log.commit([completed(at(5))]);
      assert.equal(await total(), 1);
      await store.prune({ closedBefore: at(9), limit: 9 });
      assert.equal(await total(), 0);
      await logOf(store).create({ text: 'other' });
      assert.equal(await total(), 0);
      const erased = logOf(store, { taskId: 'e' });
      await erased.commit([received('m1', 'c'), created('e', 'c'), completed(at(6))], { text: 'refund' });
      assert.equal(await total(), 1);
      await store.erase?.('s', 'e');
      assert.equal(await total(), 0);
    },
  },
  canSearch,
);

export const listTextChecks = [...refusalChecks, ...foundChecks];
