import type { TaskName } from '../port/lease.ts';
import type { RecordRow, TaskRow, WebhookRow } from '../port/rows.ts';
import type { CallerRow, Found, QueueCounts, QueueRow, Wanted } from '../rules/change.ts';
import type { Moment } from '../rules/moment.ts';
import { byName, contextOf, countedAs, isAsking, readyBetween } from '../rules/task-row.ts';

export interface AllRows {
  readonly tasks: readonly TaskRow[];
  readonly webhooks: readonly WebhookRow[];
  readonly queues: readonly QueueRow[];
  readonly callers: readonly CallerRow[];
  readonly records: readonly RecordRow[];
}

/**
 * What `wanted` asks for, apart from `once` keys and buckets, found by looking at every row: for an adapter that has no
 * indexes yet, and to compare one with that has. What each search means is said by `Wanted`; here it is as code.
 */
export function search(all: AllRows, wanted: Wanted, { now, orderNow, leaseNow }: Moment): Found {
  const { held, ready, schedule, turns, deliveries, dead, ended, listed, expired, waiting, counts } = wanted;
  const { aheadMs = 0 } = ready ?? {};
  const tasksOf = (queue: string) => all.tasks.filter((row) => row.queue === queue);
  const webhooksOf = (queue: string) => all.webhooks.filter((row) => row.queue === queue);
  return {
    now,
    orderNow,
    leaseNow,
    tasks: wanted.tasks?.map((name) => ({
      row: all.tasks.find((row) => isSame(row, name)),
      webhooks: wanted.webhooks ? all.webhooks.filter((row) => isSame(row, name)) : [],
      once: undefined,
    })),
    waiting: waiting && tasksOf(waiting.queue).filter((row) => row.waitingSince !== undefined).length,
    held:
      held &&
      tasksOf(held.queue)
        .filter((row) => row.holder === held.holder)
        .slice(0, held.limit),
    ready: ready && {
      waiting: first(tasksOf(ready.queue), 'waitingSince', Number.POSITIVE_INFINITY, ready.limit),
      due: first(tasksOf(ready.queue), 'dueAt', now + aheadMs, ready.limit),
      left: first(tasksOf(ready.queue), 'leaseUntil', leaseNow + aheadMs, ready.left),
    },
    schedule: schedule && {
      row: all.queues.find(({ queue }) => queue === schedule.queue),
      running: tasksOf(schedule.queue)
        .filter(({ holder }) => holder !== undefined)
        .map((row) => ({ scope: row.scope, context: contextOf(row) })),
      callers: callersIn(tasksOf(schedule.queue), all.callers, schedule.queue),
    },
    turns: turns?.callers.map(({ scope, except }) => {
      const isReady = ({ waitingSince, dueAt = Number.POSITIVE_INFINITY }: TaskRow) =>
        waitingSince !== undefined || dueAt <= now;
      const isOf = (row: TaskRow) => row.scope === scope && !except.includes(contextOf(row));
      const rows = tasksOf(turns.queue).filter((row) => isOf(row) && isReady(row));
      return first(rows, 'turnAt', orderNow, turns.limit);
    }),
    deliveries: deliveries && deliveriesIn(webhooksOf(deliveries.queue), deliveries, now),
    dead: dead && webhooksOf(dead.queue).filter(isDead).sort(byName).slice(0, dead.limit),
    ended: ended && first(all.tasks, 'endedAt', ended.before - 1, ended.limit),
    records: wanted.records?.map((name) => all.records.find((row) => row.name === name)),
    listed:
      listed &&
      all.records
        .filter(
          ({ name, scope }) =>
            name >= listed.from && name < listed.until && scope === (listed.scope ?? scope),
        )
        .sort((a, b) => (a.name < b.name ? -1 : 1))
        .slice(0, listed.limit),
    expired: expired && first(all.records, 'expiresAt', now, expired.limit),
    ...(counts && { counts: countsIn(tasksOf(counts.queue), webhooksOf(counts.queue)) }),
  };
}

const isSame = (a: TaskName, b: TaskName): boolean => a.scope === b.scope && a.taskId === b.taskId;

const isDead = ({ dead }: WebhookRow): boolean => dead !== undefined;

function deliveriesIn(rows: readonly WebhookRow[], wanted: NonNullable<Wanted['deliveries']>, now: number) {
  const [after, until] = readyBetween(wanted, now);
  const later = rows.filter(({ readyAt = after }) => readyAt > after);
  return first(later, 'readyAt', until, wanted.limit);
}

/** The first rows by a column, of those where it has come. */
function first<Column extends string, Row extends { readonly [_ in Column]: number | undefined }>(
  rows: readonly Row[],
  column: Column,
  until: number,
  limit: number,
): Row[] {
  const at = (row: Row) => row[column] ?? Number.POSITIVE_INFINITY;
  const come = rows.filter((row) => row[column] !== undefined && at(row) <= until);
  return come.sort((a, b) => at(a) - at(b)).slice(0, limit);
}

function countsIn(rows: readonly TaskRow[], webhooks: readonly WebhookRow[]): QueueCounts {
  const tasks: Record<string, number> = {};
  for (const row of rows) {
    const name = countedAs(row);
    if (name !== undefined) tasks[name] = (tasks[name] ?? 0) + 1;
  }
  const asked = rows.filter(isAsking).map(({ head }) => Date.parse(head?.statusAt ?? ''));
  return {
    tasks,
    askedAt: asked.length === 0 ? undefined : Math.min(...asked),
    undelivered: webhooks.filter(({ readyAt }) => readyAt !== undefined).length,
    dead: webhooks.filter(isDead).length,
  };
}

function callersIn(tasks: readonly TaskRow[], callers: readonly CallerRow[], queue: string) {
  const firsts = new Map<string, number>();
  for (const { scope, turnAt } of tasks)
    if (turnAt !== undefined) firsts.set(scope, Math.min(turnAt, firsts.get(scope) ?? turnAt));
  return Array.from(firsts, ([scope, firstAt]) => {
    const known = callers.find((caller) => caller.queue === queue && caller.scope === scope);
    return { scope, firstAt, turn: known?.turn ?? 0 };
  });
}
