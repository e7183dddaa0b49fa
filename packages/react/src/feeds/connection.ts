/**
 * How current a value is. `idle`: nothing was asked for yet. `connecting`: the first answer is awaited. `reconnecting`: the
 * connection is broken and will be made again. `closed`: the task has ended, or an error is final.
 */
export type Connection = 'idle' | 'connecting' | 'connected' | 'reconnecting' | 'closed';

/** The pauses between attempts, in milliseconds. */
export const backoff = { initialMs: 250, maxMs: 10_000, jitter: 0.5 };
