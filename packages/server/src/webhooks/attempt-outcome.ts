import { type Fact, isTerminal } from '@batonjs/lifecycle';
import { backoffMs } from '@batonjs/protocol/timing';
import type { PushConfigStore } from '@batonjs/store';
import { isoTime } from '../base/timing/clock.ts';
import type { AttemptResult } from './attempt.ts';
import { backoffOf, type PushRetry } from './push-options.ts';

/** The circumstances of an attempt that failed. */
export interface FailedAttempt {
  /** The update. */
  readonly fact: Fact;
  /** Attempts with this update, this one counted. */
  readonly attempts: number;
  /** How often in a row the webhook refused updates, this one counted. */
  readonly rejections: number;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly random: () => number;
}

/** A webhook is tried again, or given up. */
export type FailureOutcome = Extract<
  Parameters<PushConfigStore['advance']>[1],
  { retryAt: string } | { dead: string }
>;

/** Whether no update follows: a webhook that refuses this one is given up, so that `deadLetters` shows it. */
const endsTask = (fact: Fact): boolean => fact.type === 'status-changed' && isTerminal(fact.status.state);

/** The fate of a webhook that did not take an update. Undefined if the update is skipped. */
export function outcomeOf(
  { reason, retry, afterMs = 0 }: AttemptResult & { delivered: false },
  { fact, attempts, rejections, now, random }: FailedAttempt,
  options: PushRetry,
): FailureOutcome | undefined {
  const { maxAttempts, maxRejections, maxAgeMs, maxDelayMs } = options;
  if (retry === 'skip' && rejections < maxRejections && !endsTask(fact)) return undefined;
  const isFinal = retry === 'skip' || retry === 'no';
  const isHopeless = isFinal || rejections >= maxRejections || attempts >= maxAttempts;
  if (isHopeless || now - Date.parse(fact.at) > maxAgeMs)
    return { dead: `${reason}, ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}` };
  const wait = Math.max(backoffMs(attempts, backoffOf(options), random), Math.min(afterMs, maxDelayMs));
  return { retryAt: isoTime(now + wait), attempts };
}
