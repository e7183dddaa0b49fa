import type { StepFailures, StepResult } from '@batonjs/lifecycle';
import type { Answer } from '@batonjs/store';
import type { TurnSpan } from '../../base/hooks/telemetry.ts';
import type { Clock } from '../../base/timing/clock.ts';
import type { LazyAbort } from '../../base/timing/lazy-abort.ts';
import type { StepPolicy } from '../retries/retry-policy.ts';
import type { WaitDependencies } from './step-waits.ts';

/** The stored steps of a turn. */
export interface StepRecord extends WaitDependencies {
  readonly span?: TurnSpan | undefined;
  readonly clock: Clock;
  readonly abort: Pick<LazyAbort, 'signal' | 'aborted' | 'throwIfAborted'>;
  /** What the server says for all steps. */
  readonly policy: StepPolicy;
  /** Up to when times had come as the attempt started, although the wall clock may say less: milliseconds since 1970. */
  readonly startedAt?: number;
  /** Whether the next try follows at once: in unit tests. */
  readonly skipsWaits?: boolean | undefined;
  /** The result that a step has already: of this attempt or an earlier one, or kept for the task. */
  known(name: string): StepResult | undefined;
  /** How a step failed that was not completed since. */
  failed(name: string): StepFailures | undefined;
  /** To be called right before the function is. Throws or rejects if it must not be called. */
  enter(): Promise<void> | undefined;
  /** Stores a result, which is JSON. Rejects if it cannot be stored. */
  complete(name: string, result: unknown, keep: 'task' | undefined): Answer<unknown>;
  /** Stores that a try failed, and when the next one is due (ISO 8601, UTC, milliseconds), if there is one. */
  fail(name: string, message: string, retryAt: string | undefined): Answer<unknown>;
}
