import { SNAPSHOT_FORMAT } from '@batonjs/lifecycle/internals';
import { mustBeWhole } from '../load-task.ts';
import { diverged, type StoredFact, type StoredLog, StoreError } from '../port/commit.ts';
import type { TaskName } from '../port/lease.ts';
import { type Answer, type QueueReading, whenAnswered } from '../port/rows.ts';
import { type Found, foundOf } from '../rules/change.ts';
import { deletionOf, isDeletedStep, isDeletion } from '../rules/prune.ts';
import { foundRecord } from '../rules/record.ts';
import { postponed } from '../rules/task-row.ts';
import { readParts, readRecord } from './in-parts.ts';
import type { KeptFacts, KeptLog, Rows } from './rows.ts';

/**
 * The log of a task as callers see it: without a snapshot that only a newer release reads. Throws `UNREADABLE` if a fact is
 * missing.
 */
export const storedLog = <Json>(
  rows: Rows<Json>,
  scope: string,
  taskId: string,
): Answer<StoredLog | undefined> =>
  whenAnswered(rows.log(scope, taskId), (kept) => {
    if (!kept?.snapshot || !(kept.snapshot.format > SNAPSHOT_FORMAT)) return logOf(kept);
    const { row } = kept;
    return whenAnswered(rows.facts(scope, taskId, 0, row.version), ({ version, facts }) =>
      version === 0 ? undefined : logOf({ row, facts }),
    );
  });

function logOf(kept: KeptLog | undefined): StoredLog | undefined {
  if (!kept) return undefined;
  const { row, snapshot, facts } = kept;
  const { head, version } = row;
  if (!head) return undefined;
  const log = { head, version, ...(snapshot && { snapshot }), facts };
  mustBeWhole(log);
  return log;
}

/** Reads facts as `TaskStore.readFacts` says. */
export function readFacts<Json>(
  rows: Rows<Json>,
  { scope, taskId }: TaskName,
  after: number,
  limit: number,
  lastCommitId: string | undefined,
): Answer<readonly StoredFact[]> {
  if (lastCommitId === undefined)
    return whenAnswered(rows.facts(scope, taskId, after, limit), (kept) =>
      contiguous(taskId, after, limit, kept),
    );
  return whenAnswered(rows.facts(scope, taskId, after - 1, limit + 1), ({ version, facts }) => {
    const [known, ...rest] = facts;
    if (known?.version === after && known.commitId === lastCommitId)
      return contiguous(taskId, after, limit, { version, facts: rest });
    return whenAnswered(isDeleted(rows, { scope, taskId }), (isGone): never => {
      throw isGone ? new StoreError('LOG_DELETED', `Task ${taskId} was deleted`) : diverged(taskId, after);
    });
  });
}

/** Whether a log was deleted lately. */
const isDeleted = <Json>(rows: Rows<Json>, task: TaskName): Answer<boolean> =>
  whenAnswered(
    readRecord(rows, deletionOf(task), task.taskId),
    (found) => isDeletion(foundRecord(found), found) || rows.change(isDeletedStep(deletionOf(task))),
  );

function contiguous(
  taskId: string,
  after: number,
  limit: number,
  { version, facts }: KeptFacts,
): readonly StoredFact[] {
  const isMissing = facts.length === 0 && limit > 0 && version > after;
  if (isMissing || facts.some((fact, n) => fact.version !== after + n + 1))
    throw new StoreError('LOG_GAP', `The facts of task ${taskId} after ${after} are not kept any more`);
  return facts;
}

/** Later than any time that a task or a webhook has, in milliseconds from now. */
const farMs = 1e14;

/** How much lies in a queue; see `TaskStore.measure`. */
export function measure<Json>(rows: Rows<Json>, queue: string): Answer<QueueReading> {
  const wanted = {
    waiting: { queue },
    ready: { queue, limit: 1, left: 1, aheadMs: farMs },
    deliveries: { queue, limit: 1, aheadMs: farMs },
    counts: { queue },
  };
  return whenAnswered(readParts(rows, wanted), readingOf);
}

/** The reading of all parts together. */
function readingOf(parts: readonly Found[]): QueueReading {
  const waiting = parts.flatMap(waits);
  const delivering = parts.flatMap((found) =>
    foundOf(found, 'deliveries').map(({ readyAt = found.now }) => found.now - readyAt),
  );
  const [waitingMs, undeliveredMs] = [waiting, delivering].map((times) =>
    most(times.filter((ms) => ms >= 0)),
  );
  const next = [...waiting, ...delivering];
  return {
    waiting: sum(parts.map((found) => foundOf(found, 'waiting'))),
    ...(waitingMs !== undefined && { waitingMs }),
    ...(next.length > 0 && { nextMs: Math.max(0, -Math.max(...next)) }),
    ...(undeliveredMs !== undefined && { undeliveredMs }),
    ...counted(parts),
  };
}

/** What the adapter counts. */
function counted(parts: readonly Found[]): Partial<QueueReading> {
  const all = parts.flatMap(({ counts }) => (counts ? [counts] : []));
  if (all.length < parts.length) return {};
  const tasks: Record<string, number> = { [postponed]: 0 };
  for (const counts of all)
    for (const [name, some] of Object.entries(counts.tasks)) tasks[name] = (tasks[name] ?? 0) + some;
  const { [postponed]: later, ...questions } = tasks;
  const questionMs = most(
    parts.flatMap(({ now, counts }) => (counts?.askedAt === undefined ? [] : [now - counts.askedAt])),
  );
  const webhooks = all.flatMap(({ undelivered, dead }) =>
    undelivered === undefined || dead === undefined ? [] : [{ undelivered, dead }],
  );
  return {
    postponed: later ?? 0,
    questions,
    ...(questionMs !== undefined && { questionMs }),
    ...(webhooks.length === all.length && {
      undelivered: sum(webhooks.map(({ undelivered }) => undelivered)),
      dead: sum(webhooks.map(({ dead }) => dead)),
    }),
  };
}

/** For how long the first turn of each kind could have been claimed, each by its own clock. Negative: it cannot yet. */
function waits(found: Found): number[] {
  const { now, orderNow, leaseNow } = found;
  const { waiting, due, left } = foundOf(found, 'ready');
  return [
    ...waiting.map(({ waitingSince = orderNow }) => Math.max(0, orderNow - waitingSince)),
    ...due.map(({ dueAt = now }) => now - dueAt),
    ...left.map(({ leaseUntil = leaseNow }) => leaseNow - leaseUntil),
  ];
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

/** The largest; undefined without any. Never negative: two clocks may differ by a little. */
const most = (times: readonly number[]): number | undefined =>
  times.length === 0 ? undefined : Math.max(0, ...times);
