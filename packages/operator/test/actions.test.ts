import type { TaskState } from '@batonjs/protocol';
import { completed, inputRequired, type Turn } from '@batonjs/server';
import { systemClock } from '@batonjs/server/internals';
import { type PushConfig, type PushConfigStore, StoreError, type TaskStore } from '@batonjs/store';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it } from 'vitest';
import { change } from '../../../test/kit/faulty-store.ts';
import { rpc, say } from '../../../test/kit/rpc.ts';
import { scope } from '../../../test/kit/scope.ts';
import { serve } from '../../../test/kit/serve.ts';
import type { BulkAction, BulkRequest } from '../src/bulk/bulk.ts';
import { actions } from '../src/bulk/bulk-actions.ts';
import { firstCursor, isMoving, pageQuery, statesOf } from '../src/bulk/bulk-cursor.ts';

const agent = async function* ({ text, step }: Turn) {
  await step('one', () => 1);
  yield text === 'ask' ? inputRequired('What?') : completed();
};

/** A task that asks or has ended, and one action on it. */
async function about(text: 'ask' | 'done', store: TaskStore = memoryStore()) {
  const server = serve(agent, { store });
  const { task } = await rpc(server, 'SendMessage', { message: say(text) });
  const act = async (
    action: BulkAction,
    {
      dryRun = false,
      through = store,
      webhooks,
      ...request
    }: { dryRun?: boolean; through?: TaskStore; webhooks?: PushConfigStore } & Partial<BulkRequest> = {},
  ) => {
    const { tasks } = await store.list(scope, { limit: 9 });
    const listed = tasks.find(({ taskId }) => taskId === task.id);
    const name = { scope, taskId: task.id, head: listed?.head ?? ({ closed: false } as never) };
    const source = { store: through, clock: systemClock, queue: 'agent', webhooks };
    return actions[action](name, { id: 'run', dryRun, request: { action, ...request }, source });
  };
  const state = async () => (await rpc(server, 'GetTask', { id: task.id })).status.state;
  return { server, store, id: task.id as string, act, state };
}

/** A store whose commits are refused so. */
const refusing = (store: TaskStore, error: Error) =>
  change(store, { commit: () => () => Promise.reject(error) });

describe('a cancel of one of many tasks', () => {
  it('asks once, and says what there was nothing to do for', async () => {
    const ended = await about('done');
    for (const dryRun of [true, false])
      expect(await ended.act('cancel', { dryRun })).toEqual({ outcome: 'skipped', reason: 'it has ended' });
    const { server, act, store, state, id } = await about('ask');
    expect(await act('cancel', { dryRun: true })).toEqual({ outcome: 'done' });
    expect(await state()).toBe('TASK_STATE_INPUT_REQUIRED');
    // Nobody carries it out.
    await server.close();
    const before = (await store.load(scope, id))?.version ?? 0;
    expect(await act('cancel')).toEqual({ outcome: 'done' });
    expect(await act('cancel')).toEqual({ outcome: 'skipped', reason: 'it was asked to cancel before' });
    expect((await store.load(scope, id))?.version).toBe(before + 1);
  });

  it.each([
    [new StoreError('LOG_CLOSED', 'x'), 'it has ended'],
    [new StoreError('VERSION_CONFLICT', 'x'), 'it is gone'],
  ])('that comes too late is skipped: %s', async (error, reason) => {
    const { act, store } = await about('ask');
    expect(await act('cancel', { through: refusing(store, error) })).toEqual({ outcome: 'skipped', reason });
  });

  it('fails with what else the store says', async () => {
    const { act, store } = await about('ask');
    const error = new StoreError('UNREADABLE', 'It is damaged');
    await expect(act('cancel', { through: refusing(store, error) })).rejects.toBe(error);
  });
});

describe('a fork of one of many tasks', () => {
  it('is made once for a run, from where it was asked for, and says who asked', async () => {
    const { act, store, id, server } = await about('done');
    expect(await act('fork', { dryRun: true })).toEqual({ outcome: 'done' });
    // Nobody works on what is forked: the step is the one that was taken over.
    await server.close();
    const first = await act('fork', { from: 'one', by: 'ada' });
    expect(first).toEqual({ outcome: 'done', forkId: expect.any(String) });
    const { forkId = '' } = first;
    expect(await act('fork', { from: 'one', by: 'ada' })).toEqual({
      outcome: 'skipped',
      reason: 'it was forked before',
      forkId,
    });
    const facts = (await store.readFacts(scope, forkId, 0, 99)).map(({ fact }) => fact);
    expect(facts[0]).toMatchObject({ forked: { taskId: id, by: 'ada' } });
    expect(facts.some(({ type }) => type === 'step-completed')).toBe(true);
  });

  it('is of the first message alone, and of nobody, where nothing is said', async () => {
    const { act, store } = await about('done');
    const { forkId = '' } = await act('fork');
    const [{ fact } = { fact: undefined }] = await store.readFacts(scope, forkId, 0, 1);
    expect(Object.keys(Object(Object(fact).forked))).not.toContain('by');
    expect((await store.readFacts(scope, forkId, 0, 99))[0]?.fact.type).toBe('message-received');
  });
});

describe('a deletion of one of many tasks', () => {
  it('says what there was nothing to do for', async () => {
    const { act, store, id } = await about('done');
    expect(await act('delete', { dryRun: true })).toEqual({ outcome: 'done' });
    expect(await store.load(scope, id)).toBeDefined();
    expect(await act('delete')).toEqual({ outcome: 'done' });
    expect(await act('delete')).toEqual({ outcome: 'skipped', reason: 'it is gone' });
    const open = await about('ask');
    expect(await open.act('delete')).toEqual({ outcome: 'skipped', reason: 'it has not ended' });
  });

  it('is refused by a store that erases nothing', async () => {
    const { act, store } = await about('done');
    await expect(act('delete', { through: { ...store, erase: undefined } as never })).rejects.toMatchObject({
      reason: 'UNSUPPORTED_OPERATION',
      message: 'The store erases no tasks',
    });
  });
});

describe('a retry of the webhooks of one of many tasks', () => {
  /** Webhooks by number, and what was done to them. */
  function webhooksOf(all: readonly Partial<PushConfig>[]) {
    const done: (readonly [string, readonly string[]])[] = [];
    const pages: unknown[] = [];
    const webhooks = {
      async listPushConfigs(_scope: string, _id: string, page: { limit: number; after?: string }) {
        pages.push(page);
        const named = all.map((one, n) => ({ ...one, id: `w${String(n).padStart(3, '0')}` }));
        return named.filter(({ id }) => page.after === undefined || id > page.after).slice(0, page.limit);
      },
      async retryNow(some: readonly { id: string }[]) {
        done.push(['now', some.map(({ id }) => id)]);
      },
      async revive(_scope: string, _id: string, id: string) {
        done.push(['revive', [id]]);
        return true;
      },
    } as unknown as PushConfigStore;
    return { webhooks, done, pages };
  }

  it('revives the dead, tries those that wait at once, and leaves the others', async () => {
    const { act } = await about('ask');
    const given = [{ dead: 'gone', retryAt: 'x' }, {}, { retryAt: 'x' }, { retryAt: 'y' }];
    const dry = webhooksOf(given);
    expect(await act('retry-webhooks', { dryRun: true, webhooks: dry.webhooks })).toEqual({
      outcome: 'done',
    });
    expect(dry.done).toEqual([]);
    const { webhooks, done, pages } = webhooksOf(given);
    expect(await act('retry-webhooks', { webhooks })).toEqual({ outcome: 'done' });
    expect(done).toEqual([
      ['now', ['w002', 'w003']],
      ['revive', ['w000']],
    ]);
    expect(pages).toEqual([{ limit: 100 }]);
  });

  it('is skipped where none waits, and asks nothing of the store', async () => {
    const { act } = await about('ask');
    for (const given of [[], [{}, {}]]) {
      const { webhooks, done } = webhooksOf(given);
      expect(await act('retry-webhooks', { webhooks })).toEqual({
        outcome: 'skipped',
        reason: 'no webhook of it waits',
      });
      expect(done).toEqual([]);
    }
  });

  it('reads all pages, each after the last webhook of the one before', async () => {
    const { act } = await about('ask');
    const { webhooks, done, pages } = webhooksOf(
      Array.from({ length: 200 }, (_, n) => (n === 150 ? { dead: 'x' } : {})),
    );
    expect(await act('retry-webhooks', { webhooks })).toEqual({ outcome: 'done' });
    expect(done).toEqual([['revive', ['w150']]]);
    expect(pages).toEqual([{ limit: 100 }, { limit: 100, after: 'w099' }, { limit: 100, after: 'w199' }]);
  });

  it('is refused where no webhooks are kept', async () => {
    const { act } = await about('ask');
    await expect(act('retry-webhooks')).rejects.toMatchObject({ reason: 'PUSH_NOTIFICATION_NOT_SUPPORTED' });
  });
});

const named = (...names: readonly string[]) => names.map((name) => `TASK_STATE_${name}` as TaskState);
const open = named('SUBMITTED', 'WORKING', 'INPUT_REQUIRED', 'AUTH_REQUIRED');
const ended = named('COMPLETED', 'FAILED', 'CANCELED', 'REJECTED');

describe('the tasks that a run looks for', () => {
  it.each<[BulkAction, readonly TaskState[]]>([
    ['cancel', open],
    ['delete', ended],
    ['fork', [...open, ...ended]],
    ['retry-webhooks', [...open, ...ended]],
  ])('by %s are those in these states', (action, states) => {
    expect(statesOf({ action })).toEqual(states);
    for (const state of [...open, ...ended]) {
      if (states.includes(state)) expect(statesOf({ action, state })).toEqual([state]);
      else expect(() => statesOf({ action, state })).toThrow(`no task in ${state} can get a ${action}`);
    }
  });

  it('are none for an action that does not exist', () => {
    expect(() => statesOf({ action: 'fly' as never })).toThrow(
      'is one of cancel, delete, fork, retry-webhooks',
    );
  });

  it('may move in the list while they are open', () => {
    expect([...open, ...ended].filter(isMoving)).toEqual(open);
  });

  const working = 'TASK_STATE_WORKING';
  const page = { state: working, limit: 100, totalAtMost: 1 };
  const at = Date.parse('2026-01-01T00:00:00.000Z');
  const first = { statusAt: '2026-01-01T00:00:00.001Z', taskId: '0' };

  it('before the first pass are those of a clock that is ahead', () => {
    expect(pageQuery({ action: 'cancel' }, working, firstCursor, at)).toStrictEqual({
      ...page,
      statusSince: first.statusAt,
    });
  });

  it('in the first pass are all that are not newer than it, with what was asked for', () => {
    const cursor = { ...firstCursor, pass: 1 };
    expect(pageQuery({ action: 'cancel' }, working, cursor, at)).toStrictEqual({ ...page, after: first });
    const asked = { contextId: 'c', labels: ['l'], skill: 's', code: 'X', since: at - 1_000 };
    expect(pageQuery({ action: 'cancel', ...asked }, working, cursor, at)).toStrictEqual({
      ...page,
      contextId: 'c',
      labels: ['l'],
      skill: 's',
      code: 'X',
      statusSince: '2025-12-31T23:59:59.000Z',
      after: first,
    });
    expect(pageQuery({ action: 'cancel', labels: [] }, working, cursor, at)).toStrictEqual({
      ...page,
      after: first,
    });
  });

  it('in a later pass are those that changed since the one before began', () => {
    const cursor = { ...firstCursor, pass: 2, since: at };
    expect(pageQuery({ action: 'cancel' }, working, cursor, at)).toStrictEqual({
      ...page,
      statusSince: '2026-01-01T00:00:00.000Z',
    });
    const after = { statusAt: 'x', taskId: 't' };
    expect(pageQuery({ action: 'cancel', since: at + 1 }, working, { ...cursor, after }, at)).toStrictEqual({
      ...page,
      statusSince: '2026-01-01T00:00:00.001Z',
      after,
    });
  });
});
