import assert from 'node:assert/strict';
import type { TaskStore } from '@batonjs/store';
import type { StoredTask, Transfer } from '@batonjs/store/rules';
import { type Check, section } from '../fixture/check.ts';
import { eventually, refuses, same } from '../fixture/expectations.ts';
import { cancelRequested, chunk, completed, oddIds, push, working } from '../samples/facts.ts';
import { logOf, present, snapshotAt } from '../samples/log.ts';

const acquire = { holder: 'h', ttlMs: 60_000 };

/** One that waits, one at work, one that ended, one that asks for its end, and one of a made-up id. */
async function fill(store: TaskStore): Promise<void> {
  await logOf(store, { taskId: 'waits' }).create({ turn: { queue: 'q', want: true }, once: 'message:m1' });
  const held = await logOf(store, { taskId: 'held' }).started({ turn: { queue: 'q', acquire } });
  await held.commit([working(), chunk(1)], { snapshot: snapshotAt(3) });
  const ended = await logOf(store, { taskId: 'ended', scope: 's2' }).started();
  await ended.commit([completed()]);
  const canceled = await logOf(store, { taskId: 'canceled' }).started();
  await canceled.append(cancelRequested(), 'cancel', { turn: { queue: 'q', want: true } });
  for (const id of oddIds.slice(0, 5)) await logOf(store, { taskId: id, scope: id }).create();
}

/** The rows of all pages. */
async function all({ tasks }: Transfer, limit: number) {
  const rows = new Map<string, StoredTask['row']>();
  for (let from: string | undefined, n = 0; n < 20_000; n++) {
    const page = await tasks(from, limit);
    for (const row of page.rows) rows.set(`${row.scope} ${row.taskId}`, row);
    from = page.next;
    if (from === undefined) break;
  }
  return [...rows.values()];
}

/** What has to be the same after a move: a lease has less time left, and revisions grow. */
const lasting = ({ row, webhooks, ...task }: StoredTask) => ({
  ...task,
  row: {
    ...row,
    revision: 0,
    leaseUntil: row.leaseUntil !== undefined,
    leasedAt: row.leasedAt !== undefined,
  },
  webhooks: webhooks.map((webhook) => ({ ...webhook, revision: 0 })),
});

/** Each check for a store that can be moved. */
const movable =
  (run: (transfer: Transfer, fixture: Parameters<Check['run']>[0]) => Promise<void>): Check['run'] =>
  async (fixture) => {
    const { transfer } = fixture.store;
    if (transfer) await run(transfer, fixture);
  };

export const transferChecks = section('transfer', {
  'gives the tasks of all scopes, page by page': movable(async (transfer, { store }) => {
    same(await all(transfer, 2), []);
    await fill(store);
    const names = ['waits', 'held', 'canceled', 'ended', ...oddIds.slice(0, 5)].sort();
    for (const limit of [1, 4, 100])
      same((await all(transfer, limit)).map(({ taskId }) => taskId).sort(), names);
    same((await transfer.find([{ scope: 's', taskId: 'ended' }]))[0]?.row, undefined);
    assert.equal(await transfer.read({ scope: 's', taskId: 'ended' }), undefined);
  }),

  'takes each task as it was given, with all that is kept of it': movable(
    async (transfer, { store, second }) => {
      await fill(store);
      for (const row of await all(transfer, 100)) {
        const given = present(await transfer.read(row), 'task');
        const webhook = {
          ...push('a', { scope: row.scope, taskId: row.taskId }),
          fence: 3,
          attempts: 2,
          holder: undefined,
          leaseUntil: undefined,
        };
        const webhooks = [{ ...webhook, revision: 1, readyAt: undefined, dead: 'Gone' }];
        const facts = await transfer.facts(row, 0, 100);
        const log = await store.load(row.scope, row.taskId);
        await transfer.remove(row);
        assert.equal(await store.load(row.scope, row.taskId), undefined);
        await transfer.append(row, facts);
        assert.equal(await second.load(row.scope, row.taskId), undefined, 'is seen before it is whole');
        await refuses('VERSION_CONFLICT', transfer.append(row, facts));
        await transfer.put({ ...given, webhooks });
        same(await second.load(row.scope, row.taskId), log);
        same(await transfer.facts(row, 0, 100), facts);
        const kept = present(await transfer.read(row), 'task');
        same(lasting(kept), lasting({ ...given, row: { ...given.row, webhooks: 1 }, webhooks }));
        await transfer.put(given);
        same((await transfer.find([row]))[0]?.webhooks, []);
      }
      const last = await transfer.facts({ scope: 's', taskId: 'canceled' }, 2, 9);
      same(
        last.map(({ once }) => once),
        ['cancel'],
      );
      const again = logOf(second, { taskId: 'waits' });
      assert.equal((await again.create({ once: 'message:m1' })).repeated, true);
      const claimed = await second.claim({ queue: 'q', holder: 'other', ttlMs: 60_000, limit: 9 });
      same(claimed.map(({ taskId }) => taskId).sort(), ['canceled', 'waits']);
      same((await second.list('s', { limit: 9 })).total, 3);
    },
  ),

  'gives and takes records as they are': movable(async (transfer, { store, second }) => {
    for (const name of ['a/1', 'a/2', 'b'])
      await store.putRecord(name, 0, { name }, { scope: 's', ttlMs: 1e9 });
    const records = await transfer.records(undefined, 9);
    same(
      (await transfer.records('a/1', 1)).map(({ name }) => name),
      ['a/2'],
    );
    for (const { name } of records) await transfer.putRecord(name);
    same(await second.listRecords({ limit: 9 }), []);
    for (const record of records) await transfer.putRecord(record);
    same(await transfer.records(undefined, 9), records);
    same((await second.listRecords({ scope: 's', limit: 9 })).length, 3);
  }),

  'takes no writes while it is frozen, and takes them again': movable(async (transfer, fixture) => {
    const { store, second, now } = fixture;
    const { freeze } = transfer;
    if (!freeze) return;
    const log = await logOf(second).started();
    await freeze(Number.POSITIVE_INFINITY);
    await refuses('UNAVAILABLE', log.commit([working()]));
    await refuses('UNAVAILABLE', logOf(second, { taskId: 'new' }).create());
    await refuses('UNAVAILABLE', store.putRecord('a', 0, 1));
    if (store.probe) await refuses('UNAVAILABLE', store.probe());
    same((await second.load('s', 't'))?.version, 2);
    await freeze(0);
    await log.commit([working()]);
    await freeze(1_000);
    await refuses('UNAVAILABLE', log.commit([completed()]));
    const end = now() + 1_000;
    const ended = () =>
      log.commit([completed()]).catch((error) => (now() <= end + 5_000 ? undefined : Promise.reject(error)));
    await eventually(
      { ...fixture, timeoutMs: fixture.timeoutMs + 6_000 },
      ended,
      'The store takes no writes',
    );
  }),
});
