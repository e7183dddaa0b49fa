import assert from 'node:assert/strict';
import type { TaskQuery, TaskStore } from '@batonjs/store';
import { foundOf } from '../fixture/all-pages.ts';
import { section } from '../fixture/check.ts';
import { idsOf, refuses } from '../fixture/expectations.ts';
import { answered, at, completed, created, received, working } from '../samples/facts.ts';
import { logOf } from '../samples/log.ts';

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
      const log = logOf(store);
      await log.create({ text: 'refund' });
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
