import { type Answer, whenAnswered } from '../port/answer.ts';
import type { QueueReading } from '../port/queue-reading.ts';
import { type Found, foundOf } from '../rules/change.ts';
import { postponed } from '../rules/task-row.ts';
import { readParts } from './in-parts.ts';
import type { Rows } from './rows.ts';

/** How much lies in a queue; see `TaskStore.measure`. */
export function measure<Json>(rows: Rows<Json>, queue: string): Answer<QueueReading> {
  const wanted = {
    waiting: { queue },
    ready: { queue, limit: 1, left: 1 },
    deliveries: { queue, limit: 1 },
    counts: { queue },
  };
  return whenAnswered(readParts(rows, wanted), readingOf);
}

/** The reading of all parts together. */
function readingOf(parts: readonly Found[]): QueueReading {
  const waitingMs = most(parts.flatMap(waits));
  const undeliveredMs = most(
    parts.flatMap((found) => {
      const [first] = foundOf(found, 'deliveries');
      return first?.readyAt === undefined ? [] : [found.now - first.readyAt];
    }),
  );
  return {
    waiting: sum(parts.map((found) => foundOf(found, 'waiting'))),
    ...(waitingMs !== undefined && { waitingMs }),
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

/** For how long the first turn of each kind could have been claimed, each by its own clock. */
function waits(found: Found): number[] {
  const { now, orderNow, leaseNow } = found;
  const { waiting, due, left } = foundOf(found, 'ready');
  return [
    ...waiting.map(({ waitingSince = orderNow }) => orderNow - waitingSince),
    ...due.map(({ dueAt = now }) => now - dueAt),
    ...left.map(({ leaseUntil = leaseNow }) => leaseNow - leaseUntil),
  ];
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

/** The largest; undefined without any. Never negative: two clocks may differ by a little. */
const most = (times: readonly number[]): number | undefined =>
  times.length === 0 ? undefined : Math.max(0, ...times);
