/**
 * How current a value is: nothing was asked for yet, the first answer is awaited, it is current, the connection is broken
 * and will be made again, or nothing more comes because the task has ended or an error is final.
 */
export type Connection = 'idle' | 'connecting' | 'connected' | 'reconnecting' | 'closed';

/** The pauses between attempts, in milliseconds. */
export const backoff = { initialMs: 250, maxMs: 10_000, jitter: 0.5 };
