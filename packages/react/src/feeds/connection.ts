import { A2AError, ClientError } from '@batonjs/client';

/**
 * How current a value is: nothing was asked for yet, the first answer is awaited, it is current, the connection is broken
 * and will be made again, or nothing more comes because the task has ended or an error is final.
 */
export type Connection = 'idle' | 'connecting' | 'connected' | 'reconnecting' | 'closed';

/** Whether the agent may answer the same call later. */
export const isTransient = (error: unknown): boolean =>
  ClientError.is(error, 'NETWORK') ||
  ClientError.is(error, 'TIMEOUT') ||
  A2AError.is(error, 'UNAVAILABLE') ||
  A2AError.is(error, 'RESOURCE_EXHAUSTED');

const firstMs = 250;
const longestMs = 10_000;

/** The pauses between attempts, in milliseconds: each twice as long, with jitter, and short again after a success. */
export class Backoff {
  #ms = firstMs;

  next(): number {
    const ms = this.#ms;
    this.#ms = Math.min(ms * 2, longestMs);
    return ms * (0.5 + Math.random() / 2);
  }

  reset(): void {
    this.#ms = firstMs;
  }
}
