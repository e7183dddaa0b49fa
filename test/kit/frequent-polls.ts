import { setTimeout as pause } from 'node:timers/promises';
import type { Clock } from '@batonjs/server/internals';

/** How long a server with a long lease pauses between two polls of its store, in milliseconds. */
const [shortest, longest] = [750, 1_250];

/**
 * The clock of a server that polls its store every `pollMs` milliseconds, and keeps the lease that a busy machine needs.
 * A short lease would make polls as frequent, but a server whose event loop stood still for a part of it claims nothing
 * for a while.
 */
export const frequentPolls = (pollMs = 50): Pick<Clock, 'sleep'> => ({
  sleep: (ms, signal) => {
    const isPoll = ms >= shortest && ms <= longest;
    return pause(isPoll ? pollMs : ms, undefined, { signal, ref: false }).catch(() => {});
  },
});
