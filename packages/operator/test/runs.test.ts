import { A2AError } from '@batonjs/protocol/errors';
import { completed, inputRequired, type Turn } from '@batonjs/server';
import { systemClock } from '@batonjs/server/internals';
import { type PushConfigStore, StoreError, type TaskStore } from '@batonjs/store';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it } from 'vitest';
import { change } from '../../../test/kit/faulty-store.ts';
import { rpc, say } from '../../../test/kit/rpc.ts';
import { scope } from '../../../test/kit/scope.ts';
import { serve } from '../../../test/kit/serve.ts';
import type { BulkProgress } from '../src/bulk/bulk.ts';
import { firstCursor } from '../src/bulk/bulk-cursor.ts';
import { type BulkRun, beginRecord, bulkRuns, openRecord } from '../src/bulk/bulk-record.ts';
import { type BulkOptions, bulkTasks } from '../src/bulk-tasks.ts';
import { forkTask } from '../src/fork-task.ts';
import type { StoredAgent } from '../src/operated.ts';

/** A clock that only sleeps move, with what was slept. */
function sleptClock() {
  let now = 0;
  const sleeps: number[] = [];
  return {
    sleeps,
    clock: {
      ...systemClock,
      monotonic: () => now,
      random: () => 0.5,
      sleep: async (ms: number) => {
        sleeps.push(ms);
        now += Math.max(0, ms);
      },
    },
    pass: (ms: number) => {
      now += ms;
    },
  };
}

const agent = async function* ({ text }: Turn) {
  yield text === 'ask' ? inputRequired('What?') : completed();
};

/** A store with so many tasks that have ended, and no server. */
async function storeWith(count: number, text = 'done') {
  const store = memoryStore();
  const server = serve(agent, { store });
  for (let n = 0; n < count; n += 1) await rpc(server, 'SendMessage', { message: say(text) });
  await server.close();
  return store;
}

/** The agent of a store, whose processes are elsewhere. */
const at = (store: TaskStore, more: Partial<StoredAgent> = {}): StoredAgent => ({
  store,
  name: 'agent',
  ...more,
});

async function all(run: AsyncIterable<BulkProgress>): Promise<BulkProgress[]> {
  const seen: BulkProgress[] = [];
  for await (const progress of run) seen.push(progress);
  return seen;
}

const deleting = { action: 'delete' } as const;
const countsOf = ({ total, done, skipped, failed, isOver, tasks }: BulkProgress) => ({
  total,
  done,
  skipped,
  failed,
  isOver,
  tasks: tasks.length,
});

describe('a run', () => {
  it('says first how many tasks there are, then what became of each eight, and last that it is over', async () => {
    const store = await storeWith(10);
    const seen = await all(bulkTasks(at(store), deleting));
    const none = { total: 10, skipped: 0, failed: 0 };
    expect(seen.map(countsOf)).toEqual([
      { ...none, done: 0, tasks: 0, isOver: false },
      { ...none, done: 8, tasks: 8, isOver: false },
      { ...none, done: 10, tasks: 2, isOver: false },
      { ...none, done: 10, tasks: 0, isOver: true },
    ]);
    expect(new Set(seen.map(({ id, action }) => `${action} ${id}`)).size).toBe(1);
  });

  it('writes down how far it is after each page of tasks, and not for pages without any', async () => {
    const store = await storeWith(250);
    const done: number[] = [];
    const noting = change(store, {
      putRecord:
        (put) =>
        (...given) => {
          done.push((given[2] as BulkRun).cursor.done);
          return put(...given);
        },
    });
    await all(bulkTasks(at(noting), deleting));
    // Its begin, three pages of tasks, its end.
    expect(done).toEqual([0, 100, 200, 250, 250]);
  });

  it('goes on with the other tasks after one that fails, and says why', async () => {
    const store = await storeWith(3);
    let n = 0;
    const failing = change(store, {
      erase: (erase) => async (at, id) => {
        n += 1;
        if (n === 1) throw new A2AError('INTERNAL_ERROR', 'It is damaged');
        if (n === 2) throw 'thrown text';
        return erase!(at, id);
      },
    });
    const seen = await all(bulkTasks(at(failing), deleting));
    expect(countsOf(seen.at(-1)!)).toMatchObject({ done: 1, failed: 2, skipped: 0 });
    const reasons = seen.flatMap(({ tasks }) => tasks.flatMap(({ reason }) => reason ?? []));
    expect(reasons.sort()).toEqual(['It is damaged', 'thrown text']);
  });

  it.each([
    ['the store does not answer', () => new StoreError('UNAVAILABLE', 'away')],
    ['the queue is full', () => new A2AError('RESOURCE_EXHAUSTED', 'full')],
  ])('tries again while %s, for a minute', async (_what, error) => {
    const store = await storeWith(1);
    let left = 3;
    const busy = change(store, {
      erase: (erase) => async (at, id) => {
        left -= 1;
        if (left >= 0) throw error();
        return erase!(at, id);
      },
    });
    const { clock, sleeps } = sleptClock();
    const seen = await all(bulkTasks(at(busy, { clock }), deleting));
    expect([seen.at(-1)?.done, sleeps]).toEqual([1, [100, 100, 100]]);
    left = Number.POSITIVE_INFINITY;
    const again = sleptClock();
    const other = await storeWith(1);
    const away = change(other, { erase: () => () => Promise.reject(error()) });
    await expect(all(bulkTasks(at(away, { clock: again.clock }), deleting))).rejects.toMatchObject({
      message: error().message,
    });
    expect(again.sleeps.length).toBe(600);
  });

  it.each([
    [5, [1, 1, 1, 1, 1, 1, 1, 1, 1]],
    [30, [3, 3, 3]],
    [1_000, [8, 1]],
  ])('at %i a second does so many at once', async (perSecond, slices) => {
    const store = await storeWith(9);
    const { clock, sleeps } = sleptClock();
    const seen = await all(bulkTasks(at(store, { clock }), { ...deleting, perSecond }));
    expect(seen.flatMap(({ tasks }) => (tasks.length > 0 ? [tasks.length] : []))).toEqual(slices);
    const waits = slices.map((_, n) => (n === 0 ? 0 : (1_000 * slices[n - 1]!) / perSecond));
    expect(sleeps.map((ms) => Math.round(ms * 10) / 10)).toEqual(waits.map((ms) => Math.round(ms * 10) / 10));
  });

  it('leaves the pace as it is after a pause: what was not done in it is not made up for', async () => {
    const store = await storeWith(3);
    const { clock, sleeps, pass } = sleptClock();
    const seen: number[] = [];
    for await (const { tasks } of bulkTasks(at(store, { clock }), { ...deleting, perSecond: 1 })) {
      seen.push(tasks.length);
      if (tasks.length > 0) pass(10_000);
    }
    expect(sleeps).toEqual([0, -9_000, -9_000]);
  });

  it('that is aborted before it begins does nothing, and can be resumed', async () => {
    const store = await storeWith(2);
    const seen = await all(bulkTasks(at(store), { ...deleting, signal: AbortSignal.abort() }));
    expect(seen.map(countsOf)).toEqual([
      { total: 2, done: 0, skipped: 0, failed: 0, isOver: false, tasks: 0 },
      { total: 2, done: 0, skipped: 0, failed: 0, isOver: false, tasks: 0 },
    ]);
    const resumed = await all(bulkTasks(at(store), { resume: seen[0]!.id }));
    expect(countsOf(resumed.at(-1)!)).toMatchObject({ done: 2, isOver: true });
    await expect(all(bulkTasks(at(store), { resume: seen[0]!.id }))).rejects.toMatchObject({
      reason: 'UNSUPPORTED_OPERATION',
      message: 'The run has ended',
    });
  });

  it('meets each task once, also one that changed while the run was in another state', async () => {
    const store = await storeWith(2, 'ask');
    const asked: string[] = [];
    const webhooks = {
      listPushConfigs: async (_scope: string, id: string) => {
        asked.push(id);
        return [{ id: 'w', retryAt: 'x' }];
      },
      retryNow: async () => {},
    } as unknown as PushConfigStore;
    const seen = await all(bulkTasks(at({ ...store, ...webhooks }), { action: 'retry-webhooks' }));
    expect(countsOf(seen.at(-1)!)).toMatchObject({ total: 2, done: 2, skipped: 0, isOver: true });
    expect(new Set(asked).size).toBe(asked.length);
  });

  it('over tasks that never rest ends after twenty passes more', async () => {
    const store = await storeWith(1, 'ask');
    const lists: unknown[] = [];
    let now = Date.now();
    const restless = change(store, {
      list: (list) => async (at, query) => {
        if (query.limit === 100) lists.push(query.statusSince);
        const page = await list(at, { ...query, statusSince: undefined } as never);
        now += 1_000;
        // Each time another task that began long ago.
        const tasks = page.tasks.map((task) => ({ ...task, taskId: `${task.taskId}-${lists.length}` }));
        return query.state === 'TASK_STATE_INPUT_REQUIRED' ? { ...page, tasks } : { ...page, tasks: [] };
      },
      readFacts: () => async () => [{ fact: { at: '2020-01-01T00:00:00.000Z' } } as never],
      commit: (commit) => (one) =>
        one.scope === scope ? Promise.resolve({ repeated: false } as never) : commit(one),
    });
    const clock = { ...systemClock, now: () => now };
    const seen = await all(bulkTasks(at(restless, { clock }), { action: 'cancel' }));
    expect(countsOf(seen.at(-1)!)).toMatchObject({ done: 21, isOver: true });
    // Four open states in each pass; the first has no lower bound, those before and after it have one.
    expect(lists).toHaveLength(84);
    expect(lists.slice(3, 9).map((since) => since === undefined)).toEqual([0, 1, 1, 1, 1, 0].map(Boolean));
  });

  it.each<[object, string]>([
    [{ labels: [''] }, 'The label "" is not a text'],
    [{ skill: '' }, 'skill must be a text of 1 to 1,024 characters'],
    [{ code: 'x'.repeat(1_025) }, 'code must be a text of 1 to 1,024 characters'],
    [{ contextId: '' }, 'contextId must be a text of 1 to 1,024 characters'],
    [{ since: Number.NaN }, 'since must be a time in milliseconds since 1970'],
    [{ perSecond: 0 }, 'perSecond must be more than 0'],
    [{ perSecond: Number.NaN }, 'perSecond must be more than 0'],
    [{ action: 'fly' }, 'action is one of cancel, delete, fork, retry-webhooks'],
    [{ action: 'cancel', state: 'TASK_STATE_FAILED' }, 'state no task in TASK_STATE_FAILED can get a cancel'],
    [{ state: 'TASK_STATE_WORKING' }, 'state no task in TASK_STATE_WORKING can get a delete'],
    [{ resume: 'x', dryRun: true }, 'dryRun a run that is resumed has begun'],
  ])('is refused for %j before anything is written', async (more, sentence) => {
    const store = memoryStore();
    const run = all(bulkTasks(at(store), { ...deleting, ...more } as BulkOptions));
    await expect(run).rejects.toMatchObject({
      reason: 'INVALID_PARAMS',
      message: expect.stringContaining(sentence),
    });
    expect(await bulkRuns(store, 'agent')).toEqual([]);
  });

  it.each([
    [
      'delete',
      { erase: undefined },
      { reason: 'UNSUPPORTED_OPERATION', message: 'The store erases no tasks' },
    ],
    ['retry-webhooks', { listPushConfigs: undefined }, { reason: 'PUSH_NOTIFICATION_NOT_SUPPORTED' }],
  ] as const)('is refused by a store that cannot %s', async (action, without, refusal) => {
    const { listPushConfigs: _, ...plain } = memoryStore();
    const store = action === 'delete' ? { ...plain, ...without } : plain;
    await expect(all(bulkTasks(at(store as never), { action }))).rejects.toMatchObject(refusal);
  });
});

describe('a run of a server', () => {
  it('is for the tasks of one caller and tenant, and says who asked', async () => {
    const store = memoryStore();
    const server = serve(agent, {
      store,
      authenticate: ({ headers }) => ({ scope: headers['x-caller'] ?? '' }),
    });
    for (const caller of ['ada', 'bob'])
      await rpc(server, 'SendMessage', { message: say('done'), tenant: 'eu' }, { 'x-caller': caller });
    expect((await all(bulkTasks(server, { ...deleting, caller: 'ada' }))).at(-1)).toMatchObject({ done: 0 });
    const seen = await all(
      bulkTasks(server, { ...deleting, caller: 'ada', tenant: 'eu', dryRun: false, perSecond: 1_000 }),
    );
    expect(seen.at(-1)).toMatchObject({ total: 1, done: 1, isOver: true });
    const [run] = await bulkRuns(store, 'agent');
    expect(run?.request).toEqual({ action: 'delete', by: 'ada' });
    expect(
      (
        await all(
          bulkTasks(server, { ...deleting, caller: 'bob', tenant: 'eu', by: 'support', dryRun: true }),
        )
      ).at(-1),
    ).toMatchObject({ id: '', done: 1 });
    await server.close();
    await expect(all(bulkTasks(server, deleting))).rejects.toMatchObject({
      reason: 'UNAVAILABLE',
      message: 'The server is closing',
      retryAfter: 1,
    });
  });
});

describe('the record of a run', () => {
  const began = { scope, request: deleting, startedAt: 7 };
  const source = (store: TaskStore) => ({ store, clock: systemClock });

  it('has what was asked for, how far it is, and its end', async () => {
    const store = memoryStore();
    const record = await beginRecord(began, 'q', source(store));
    const { id } = record.run;
    expect(record.run).toEqual({ ...began, id, cursor: firstCursor, isOver: false });
    const cursor = { ...firstCursor, done: 3 };
    await record.note(cursor);
    const { run } = await openRecord(id, 'q', source(store));
    expect(run).toEqual({ ...began, id, cursor, isOver: false });
    await record.end({ ...cursor, done: 4 });
    const [listed] = await bulkRuns(store, 'q');
    expect(listed).toEqual({ ...began, id, cursor: { ...cursor, done: 4 }, isOver: true });
    expect(await bulkRuns(store, 'other')).toEqual([]);
    await expect(openRecord('none', 'q', source(store))).rejects.toMatchObject({
      reason: 'TASK_NOT_FOUND',
      message: 'There is no run none',
    });
  });

  it('is written by one process at a time', async () => {
    const store = memoryStore();
    const first = await beginRecord(began, 'q', source(store));
    const second = await openRecord(first.run.id, 'q', source(store));
    await second.note(firstCursor);
    const refused = {
      reason: 'UNSUPPORTED_OPERATION',
      message: 'Another process goes on with this run or ended it, or its caller was erased',
    };
    await expect(first.note(firstCursor)).rejects.toMatchObject(refused);
    await second.end(firstCursor);
    await expect(first.end(firstCursor)).rejects.toMatchObject(refused);
    await store.deleteRecord(`bulk/q/${first.run.id}`);
    await expect(second.note(firstCursor)).rejects.toMatchObject(refused);
  });

  it('lists the runs that were written last first', async () => {
    let now = 1_000;
    const store = memoryStore({ now: () => (now += 10) });
    const [first, second, third] = [
      await beginRecord(began, 'q', source(store)),
      await beginRecord(began, 'q', source(store)),
      await beginRecord(began, 'q', source(store)),
    ];
    await second.note(firstCursor);
    const ids = (await bulkRuns(store, 'q')).map(({ id }) => id);
    expect(ids).toEqual([second, third, first].map((one) => one.run.id));
    expect(await bulkRuns(store, 'q', 2)).toHaveLength(2);
  });

  it('names the other callers until it is over, and is gone a month after its last write', async () => {
    let now = 1_000;
    const store = memoryStore({ now: () => now });
    const record = await beginRecord({ ...began, others: ['bob'] }, 'q', source(store));
    expect(await bulkRuns(store, 'q')).toMatchObject([{ others: ['bob'] }]);
    await record.end(firstCursor);
    expect(JSON.stringify(await store.listRecords({ scope, limit: 9 }))).not.toContain('bob');
    now += 30 * 86_400_000 - 1;
    expect(await bulkRuns(store, 'q')).toHaveLength(1);
    now += 1;
    expect(await bulkRuns(store, 'q')).toEqual([]);
  });

  it('is written once where the store was away, whether or not the first try was heard of', async () => {
    const kept = memoryStore();
    const { clock, sleeps } = sleptClock();
    let answers = ['', 'before', 'after', 'after', ''];
    const store = change(kept, {
      putRecord:
        (put) =>
        async (...given) => {
          const fault = answers.shift();
          const written = fault === 'before' ? undefined : await put(...given);
          if (fault) throw new StoreError('UNAVAILABLE', 'away');
          return written;
        },
    });
    const record = await beginRecord(began, 'q', { store, clock });
    const cursor = { ...firstCursor, done: 3 };
    await record.note(cursor);
    expect([await bulkRuns(kept, 'q'), sleeps]).toMatchObject([[{ cursor }], [100, 100, 100]]);
    await record.end(cursor);
    answers = Array(200).fill('before');
    await expect(record.note(cursor)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(sleeps).toHaveLength(103);
  });
});

describe('the first commit of a fork', () => {
  /** A fork at a store that answers each commit so, the last answer forever. */
  async function forkAt(answers: readonly (StoreError | undefined)[]) {
    const memory = await storeWith(1);
    const { tasks } = await memory.list(scope, { limit: 1 });
    const left = [...answers];
    const store = change(memory, {
      commit: (commit) => async (given) => {
        const error = left.length > 1 ? left.shift() : left[0];
        if (error) throw error;
        return commit(given);
      },
    });
    const { clock, sleeps } = sleptClock();
    return { fork: () => forkTask(at(store, { clock }), tasks[0]!.taskId), sleeps };
  }
  const away = new StoreError('UNAVAILABLE', 'away');

  it('is tried again while the store is away, for ten seconds, each time after 50 to 150 ms', async () => {
    const { fork, sleeps } = await forkAt([away, away, undefined]);
    expect(await fork()).toEqual(expect.any(String));
    expect(sleeps).toEqual([100, 100]);
    const never = await forkAt([away]);
    await expect(never.fork()).rejects.toBe(away);
    expect(never.sleeps).toHaveLength(100);
  });

  it.each(['VERSION_CONFLICT', 'LOG_CLOSED'] as const)(
    'is refused with %s where another task is',
    async (code) => {
      const { fork, sleeps } = await forkAt([new StoreError(code, 'x')]);
      await expect(fork()).rejects.toMatchObject({ reason: 'MESSAGE_ID_CONFLICT' });
      expect(sleeps).toEqual([]);
    },
  );
});
