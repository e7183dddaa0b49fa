import assert from 'node:assert/strict';
import type { TaskQuery } from '@batonjs/store';
import { section } from '../fixture/check.ts';
import { answered, at, completed, created, received, working } from '../samples/facts.ts';
import { logOf } from '../samples/log.ts';

/** What a page shows with one more member of a query: its tasks, and how many there are in all. */
interface Shown {
  readonly query: Partial<TaskQuery>;
  readonly ids: string;
  readonly total: number;
}

/** All of them: a member that is added is a row here, which an adapter that forgets it does not pass. */
const rows: Readonly<Record<keyof TaskQuery, Shown>> = {
  contextId: { query: { contextId: 'c1' }, ids: 't2 t1', total: 2 },
  state: { query: { state: 'TASK_STATE_COMPLETED' }, ids: 't3 t1', total: 2 },
  statusSince: { query: { statusSince: at(3) }, ids: 't4 t3', total: 2 },
  answered: { query: { answered: true }, ids: 't5 t4 t3 t2 t1', total: 5 },
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
      await log.commit([received('m1', contextId), created(`t${n}`, contextId, at(0))]);
      await log.commit([n % 2 ? completed(at(n)) : working(at(n))]);
    }
    await logOf(store, { taskId: 't5', contextId: 'c2' }).commit([received('m1', 'c2'), answered(at(5))]);
    const everything = { limit: 10 };
    for (const [member, { query, ids, total }] of Object.entries(rows)) {
      const page = await store.list('s', { ...everything, ...query });
      assert.equal(page.tasks.map(({ taskId }) => taskId).join(' '), ids, member);
      assert.equal(page.total, total, member);
    }
  },
});
