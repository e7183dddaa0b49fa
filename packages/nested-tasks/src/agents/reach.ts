import { setTimeout as sleep } from 'node:timers/promises';
import { A2AError, ClientError } from '@batonjs/client';

/** The agent stayed out of reach although the gateway tried again. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';
}

/** How long to try, in milliseconds. */
export interface ReachOptions {
  readonly forMs: number;
  readonly signal: AbortSignal;
  /** Whether the call may be made again after an error that leaves open if the agent received it. */
  readonly repeatable: boolean;
}

const firstMs = 200;
const longestMs = 10_000;

/** Calls an agent until it answers, with exponential backoff and full jitter. Rejects with `Unreachable` after `forMs`. */
export async function reach<T>(
  call: () => Promise<T>,
  { forMs, signal, repeatable }: ReachOptions,
): Promise<T> {
  const end = performance.now() + forMs;
  for (let pauseMs = firstMs; ; pauseMs = Math.min(longestMs, pauseMs * 2)) {
    try {
      return await call();
    } catch (error) {
      signal.throwIfAborted();
      if (!isUnreachable(error)) throw error;
      const leftMs = end - performance.now();
      if (leftMs <= 0 || !(repeatable || wasNotSent(error)))
        throw new Unreachable('The agent cannot be reached', { cause: error });
      await sleep(Math.min(leftMs, pauseMs * Math.random()), undefined, { signal }).catch(() => {});
      signal.throwIfAborted();
    }
  }
}

/** Whether the agent gave no answer, or the answer that it is not available now. */
const isUnreachable = (error: unknown): boolean =>
  ClientError.is(error, 'NETWORK') ||
  ClientError.is(error, 'TIMEOUT') ||
  A2AError.is(error, 'UNAVAILABLE') ||
  A2AError.is(error, 'RESOURCE_EXHAUSTED');

/** Whether the agent did not take the request: it refused it, or no connection was made. */
export function wasNotSent(error: unknown): boolean {
  if (A2AError.is(error)) return true;
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code } = cause as { code?: unknown };
    if (code === 'ECONNREFUSED' || code === 'ENOTFOUND' || code === 'EAI_AGAIN') return true;
  }
  return false;
}
