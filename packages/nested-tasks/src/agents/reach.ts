import { A2AError, isTransient, wasNotConnected } from '@batonjs/client';
import { backoffMs, sleep } from '@batonjs/protocol/timing';

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

const backoff = { initialMs: 200, maxMs: 10_000, jitter: 1 };

/** Calls an agent until it answers, with exponential backoff and full jitter. Rejects with `Unreachable` after `forMs`. */
export async function reach<T>(
  call: () => Promise<T>,
  { forMs, signal, repeatable }: ReachOptions,
): Promise<T> {
  const end = performance.now() + forMs;
  for (let failures = 1; ; failures += 1) {
    try {
      return await call();
    } catch (error) {
      signal.throwIfAborted();
      if (!isTransient(error)) throw error;
      const leftMs = end - performance.now();
      if (leftMs <= 0 || !(repeatable || wasNotSent(error)))
        throw new Unreachable('The agent cannot be reached', { cause: error });
      await sleep(Math.min(leftMs, backoffMs(failures, backoff)), signal);
      signal.throwIfAborted();
    }
  }
}

/** Whether the agent did not take the request: it refused it, or no connection was made. */
export const wasNotSent = (error: unknown): boolean => A2AError.is(error) || wasNotConnected(error);
