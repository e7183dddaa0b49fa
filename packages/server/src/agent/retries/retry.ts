import type { Usage } from '@batonjs/lifecycle';
import type { Backoff } from '@batonjs/protocol/timing';

/** How often something that threw is tried again. */
export interface Retry {
  /** How many tries may follow the first one. Default 0. */
  readonly retries?: number | undefined;
  readonly backoff?: Backoff | undefined;
  /**
   * Whether an error is worth another try; `attempt`: which try it ended, from 1. Default: every error but an `A2AError`
   * that says neither `UNAVAILABLE`, `INTERNAL_ERROR` nor when to try again. A `NonRetryableError` never is.
   */
  readonly retryIf?: ((error: unknown, attempt: number) => boolean) | undefined;
}

/** How often a step is tried, and how long one try may take. */
export interface StepRetry extends Retry {
  /** Milliseconds after which the signal of the try is aborted and the try has failed. Default: no limit. */
  readonly timeoutMs?: number | undefined;
}

/** How often the server runs an agent again that threw. */
export interface TurnRetry extends Retry {
  /** The defaults of the steps; their `backoff` is that of the turns unless they have another one. */
  readonly steps?: StepRetry | undefined;
}

/** The options of one step. */
export interface StepOptions extends StepRetry {
  /** `task`: the result is that of every later turn of the task, too. Default: of the later attempts of this turn. */
  readonly keep?: 'task' | undefined;
  /**
   * What the result says that a call of a model used: recorded with it, so it counts once. Such a step is not begun once
   * `limits.tokensPerTask` are used.
   */
  readonly usage?: ((result: never) => Usage | undefined) | undefined;
}

/** One try of a step. */
export interface StepTry {
  /** Aborted with the signal of the turn, and when the try takes longer than `timeoutMs`. */
  readonly signal: AbortSignal;
  /** Which try it is, from 1. Later attempts of the turn go on counting. */
  readonly attempt: number;
}

/** The function of a step. */
export type StepFunction<T> = (attempt: StepTry) => T | Promise<T>;

/** Another try would not help: neither the step nor the turn that throws it is tried again. */
export class NonRetryableError extends Error {
  override readonly name = 'NonRetryableError';
  readonly code = 'NON_RETRYABLE';

  /** Whether the value is one, also one of another copy of this package. */
  static is(value: unknown): value is NonRetryableError {
    return typeof value === 'object' && value !== null && 'code' in value && value.code === 'NON_RETRYABLE';
  }
}
