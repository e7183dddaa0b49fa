import type { MessageReceived, State } from '@batonjs/lifecycle';
import { isMessageDue } from '@batonjs/lifecycle/internals';
import { withDefaults } from '@batonjs/protocol/options';
import type { Commit, TaskStore, TurnSchedule } from '@batonjs/store';
import { type Clock, isoTime } from '../../base/timing/clock.ts';
import { startsAt } from './deadline-watch.ts';

/**
 * How many turns of the agent run at once, in all processes, and in which order they start. Callers take turns: the next
 * one is of the caller that got none for the longest time. All servers and workers of an agent are given the same.
 */
export const queueOptions = {
  /** How many turns at once. Default: as many as the processes run (`limits.turns`). */
  concurrency: undefined as number | undefined,
  /** How many turns of one caller at once. Callers without a name are one caller. Default: any number. */
  perCaller: undefined as number | undefined,
  /** How many turns of one context at once; 1: one after the other. Default: any number. */
  perContext: undefined as number | undefined,
  /**
   * How many milliseconds earlier a message seems to have come for each step of its priority, among those of its caller.
   * Priorities are 0 (default) to 9, and clients set them by the extension scheduling. Default 60,000; 0: they are ignored.
   */
  priority: 60_000,
};

export type QueueOptions = Readonly<Partial<typeof queueOptions>>;

/** A schedule with its defaults. */
export interface Schedule {
  readonly turns: TurnSchedule;
  readonly priorityMs: number;
}

/** The schedule of a server or worker. Throws `TypeError` for one that cannot work. */
export function completeSchedule(given: QueueOptions | undefined, store: TaskStore): Schedule | undefined {
  if (!given) return undefined;
  const { priority, ...turns } = withDefaults(queueOptions, given);
  for (const [name, value] of Object.entries(turns)) {
    if (value !== undefined && !(Number.isInteger(value) && value > 0))
      throw new TypeError(`\`queue.${name}\` must be a whole number, 1 or more`);
  }
  if (!(priority >= 0 && priority <= 86_400_000))
    throw new TypeError('`queue.priority` must be milliseconds, from 0 to those of a day');
  if (!store.schedules) throw new TypeError('`queue` needs a store that can keep one');
  return { turns, priorityMs: priority };
}

type Order = Pick<NonNullable<Commit['turn']>, 'aheadMs'>;

const unordered: Order = {};

/** The order of a commit that puts a task into the queue for this message, or for none. */
export function orderFor(schedule: Schedule | undefined, message?: Pick<MessageReceived, 'priority'>): Order {
  return schedule ? { aheadMs: (message?.priority ?? 0) * schedule.priorityMs } : unordered;
}

/** The same, for a task that is given back: the most urgent of the messages that its next turn takes counts. */
export function orderForAll(
  schedule: Schedule | undefined,
  pending: readonly MessageReceived[],
  at: string,
): Order {
  if (!schedule) return unordered;
  const priorities = pending.filter((one) => isMessageDue(one, at)).map(({ priority = 0 }) => priority);
  return { aheadMs: Math.max(0, ...priorities) * schedule.priorityMs };
}

/** The options of a server or worker by which its tasks are queued. */
interface Queueing {
  readonly queue: string;
  readonly schedule: Schedule | undefined;
  readonly pinnedTo: string | undefined;
}

/** What the queue is told of a task that its turn gives back. Undefined for one that is over: its lease ends with it. */
export function giveBack(
  state: State,
  { options, clock }: { readonly options: Queueing; readonly clock: Pick<Clock, 'now'> },
): Commit['turn'] {
  if (state.closed) return undefined;
  const next = startsAt(state);
  const now = clock.now();
  const { queue, schedule, pinnedTo } = options;
  const want = next !== undefined && next <= now;
  const version = state.openTurn && pinnedTo;
  return { queue, release: true, want, version, ...orderForAll(schedule, state.pending, isoTime(now)) };
}

/** What the queue is told of a task that another process is to take in the middle of its turn. */
export const handOver = ({ queue, schedule, pinnedTo: version }: Queueing): Commit['turn'] => ({
  queue,
  release: true,
  want: true,
  version,
  ...orderFor(schedule),
});
