import type { State } from '@batonjs/lifecycle';
import type { Commit } from '@batonjs/store';
import { type Clock, isoTime } from '../../base/timing/clock.ts';
import { orderFor, orderForAll, type Schedule } from './schedule.ts';
import { startsAt } from './task-deadlines.ts';

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
