import { describe, expect, it } from 'vitest';
import type { Change, Step } from '../../src/adapter.ts';
import type { ClaimRequest, TaskName } from '../../src/port/lease.ts';
import type { RecordRow, TaskRow } from '../../src/port/rows.ts';
import { takeStep } from '../../src/rules/bucket.ts';
import { claimStep, renewStep } from '../../src/rules/claim.ts';
import { claimTurnsStep } from '../../src/rules/claim-turns.ts';
import { commitStep } from '../../src/rules/commit.ts';
import { listed } from '../../src/rules/list.ts';
import { deletionOf, pruneStep } from '../../src/rules/prune.ts';
import { pushConfigOf, readyWebhook } from '../../src/rules/task-row.ts';
import {
  claimDeliveriesStep,
  outcomeStep,
  putStep,
  removeStep,
  retryNowStep,
  reviveStep,
} from '../../src/rules/webhook.ts';
import { isIdle } from '../../src/rules.ts';
import { head, row, webhook } from '../a-row.ts';

const request: ClaimRequest = { queue: 'q', holder: 'h', ttlMs: 1, limit: 3 };
const name = { scope: 's', taskId: 't', id: 'w' };
const push = { ...name, config: webhook().config, protocolVersion: '1.0', queue: 'q', cursor: 0 };
const lease = { ...name, queue: 'q', holder: 'h', fence: 1, cause: 'held' } as const;
const commit = (once?: string, waitingAtMost?: number) => {
  const turn = waitingAtMost === undefined ? undefined : { queue: 'q', waitingAtMost };
  const about = { ...name, commitId: 'c', expectedVersion: 0, facts: [], once, turn };
  return commitStep({ commit: about, facts: [], snapshot: undefined, encode: String });
};
const named = [{ scope: 's', taskId: 't' }];
const ready = { queue: 'q', limit: 3, left: 3 };
const held = { queue: 'q', holder: 'h', limit: 3 };

describe('what a step wants to know', () => {
  it.each<[string, Step<unknown, never> | Step<unknown>, object, boolean]>([
    ['a commit', commit(), { tasks: [{ ...named[0], once: undefined }], webhooks: true }, false],
    [
      'a commit that counts once',
      commit('k'),
      { tasks: [{ ...named[0], once: 'k' }], webhooks: true },
      false,
    ],
    [
      'a commit that bounds its queue',
      commit(undefined, 5),
      { tasks: named, webhooks: true, waiting: { queue: 'q', atMost: 5 } },
      false,
    ],
    ['a claim', claimStep(request), { held, ready }, true],
    ['a claim of a schedule', claimTurnsStep(request, {}), { held, ready, schedule: { queue: 'q' } }, true],
    ['a renewal', renewStep([lease], 1), { tasks: named }, false],
    ['a webhook that is put', putStep(push), { tasks: named, webhooks: true }, false],
    ['a webhook that is removed', removeStep(name), { tasks: named, webhooks: true }, false],
    ['a revival', reviveStep(name), { tasks: named, webhooks: true }, false],
    ['a retry', retryNowStep([name]), { tasks: named, webhooks: true }, false],
    [
      'an outcome',
      outcomeStep({ push: pushConfigOf(webhook()), holder: 'h', fence: 1 }, { cursor: 1 }),
      { tasks: named, webhooks: true },
      false,
    ],
    ['deliveries', claimDeliveriesStep(request), { deliveries: { queue: 'q', limit: 3 } }, true],
    ['a prune', pruneStep(7, 3), { ended: { before: 7, limit: 3 }, expired: { limit: 3 } }, false],
    ['a take', takeStep('b', { burst: 1, everyMs: 1 }), { bucket: 'b' }, false],
  ])('%s', (_, { wanted, isMostlyIdle = false }, expected, isIdleMostly) => {
    expect(wanted).toEqual(expected);
    expect(isMostlyIdle).toBe(isIdleMostly);
  });
});

it('a prune deletes what ended, remembers it, and makes room', () => {
  const [a, b] = [row({ taskId: 'a' }), row({ taskId: 'b' })];
  const found = { now: 5, orderNow: 1, leaseNow: 1 };
  const record = (name: string, revision: number): RecordRow => ({
    ...{ name, revision, json: 'true', scope: undefined },
    ...{ ttlMs: 86_400_000, expiresAt: 86_400_005 },
  });
  const [old, kept] = [record('old', 1), record(deletionOf(b), 7)];
  const prune = (ended: TaskRow[], expired: RecordRow[]) =>
    pruneStep(7, 3).decide({ ...found, ended, expired });
  const isOver = (before: RecordRow) => ({ before, after: undefined });
  const step = prune([a, b], [old, kept]) as Step<readonly TaskName[], never>;
  expect(step.wanted).toEqual({ records: [deletionOf(a), deletionOf(b)] });
  expect(step.decide({ ...found, records: [undefined, kept] })).toEqual({
    result: [a, b],
    tasks: [a, b].map((before) => ({ before, after: undefined })),
    records: [
      isOver(old),
      { before: undefined, after: record(deletionOf(a), 5) },
      { before: kept, after: record(deletionOf(b), 8) },
    ],
  });
  expect(prune([], [old])).toEqual({ result: [], records: [isOver(old)] });
  expect(prune([], [])).toEqual({ result: [] });
});

it('a take goes by the clock of leases, and writes nothing where nothing was taken', () => {
  const step = takeStep('b', { burst: 1, everyMs: 10 });
  const take = (fullAt: number | undefined) =>
    step.decide({ now: 5_000, orderNow: 5_000, leaseNow: 100, fullAt });
  expect([take(undefined), take(100), take(110)]).toEqual([
    { result: 0, fullAt: 110 },
    { result: 0, fullAt: 110 },
    { result: 10 },
  ]);
});

it.each<[boolean, Change<number>]>([
  [true, { result: 1 }],
  [true, { result: 1, notify: [{ queue: 'q' }] }],
  [false, { result: 1, tasks: [] }],
  [false, { result: 1, webhooks: [] }],
  [false, { result: 1, queue: { before: undefined, after: undefined } }],
  [false, { result: 1, fullAt: 1 }],
])('that nothing is written is %s of %j', (expected, change) => {
  expect(isIdle(change)).toBe(expected);
});

it('a list leaves out what its filter does', () => {
  const rows = ['a', 'b'].map((contextId) =>
    row({ taskId: contextId, head: head(2, { contextId, state: 'TASK_STATE_WORKING' }) }),
  );
  expect(listed(rows, { limit: 9, terms: [], contextId: 'b' })).toEqual({ all: [rows[1]], rest: [rows[1]] });
  expect(
    listed([row({ version: 0, head: undefined })], { limit: 9, terms: [], contextId: 'b', answered: true })
      .all,
  ).toEqual([]);
});

it.each<[string, ReturnType<typeof webhook>, boolean]>([
  ['behind', webhook(), true],
  ['under way', webhook({ holder: 'h', leaseUntil: 1 }), false],
  ['up to date', webhook({ cursor: 2 }), false],
  ['postponed', webhook({ retryAt: '2030-01-01T00:00:00.000Z' }), false],
])('a webhook that is %s can be delivered to now: %3$s', (_, one, isReady) => {
  expect(readyWebhook(one, 1_000)).toEqual(isReady ? [{ queue: 'q' }] : []);
  expect(readyWebhook(one, 900)).toEqual(isReady ? [{ queue: 'q' }] : []);
});

it('what callers see of a webhook has the reason for which it was given up', () => {
  expect(pushConfigOf(webhook({ dead: 'no', attempts: 2 }))).toEqual({ ...push, attempts: 2, dead: 'no' });
});
