import type { Clock } from '../../base/timing/clock.ts';
import type { LiveTask } from '../live-task.ts';

/**
 * When a write that began at `since` is not tried again (monotonic milliseconds). All its attempts share this deadline.
 * It is earlier than the end of the longest store call, so that a store that used up its own time (4 s) is not asked
 * twice.
 */
export const writeDeadline = (since: number, { dependencies }: LiveTask): number =>
  since + dependencies.timeouts.storeMs * 0.8;

/** How long to wait before the next attempt, in milliseconds. */
export const backoffMs = ({ random }: Clock): number => 20 + random() * 80;
