import { type OptionNames, unknownOptions } from '@batonjs/protocol/options';
import type { Backoff } from '@batonjs/protocol/timing';
import type { StepRetry, TurnRetry } from '../../agent/retries/retry.ts';

const ofTurnRetry: OptionNames<TurnRetry> = { retries: true, backoff: true, retryIf: true, steps: true };
const ofStepRetry: OptionNames<StepRetry> = { retries: true, backoff: true, retryIf: true, timeoutMs: true };
const ofBackoff: OptionNames<Backoff> = { initialMs: true, factor: true, maxMs: true, jitter: true };

/** A sentence for each option of `retry` that does not exist. */
export const unknownRetryOptions = (retry: TurnRetry | undefined): string[] => [
  ...unknownOptions(retry, ofTurnRetry, 'retry'),
  ...unknownOptions(retry?.backoff, ofBackoff, 'retry.backoff'),
  ...unknownOptions(retry?.steps, ofStepRetry, 'retry.steps'),
  ...unknownOptions(retry?.steps?.backoff, ofBackoff, 'retry.steps.backoff'),
];
