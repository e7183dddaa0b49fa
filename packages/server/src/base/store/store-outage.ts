import { StoreError } from '@batonjs/store';
import type { Logger } from '../hooks/logger.ts';
import type { Clock } from '../timing/clock.ts';
import { causeOf } from './cause-of.ts';

/** The parts of a process that the record of an outage depends on. */
export interface OutageSource {
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly logger: Logger;
  readonly queue: string;
  /** Asks the store whether it takes writes. Rejects if it does not. */
  probe(): Promise<void>;
}

/** The time between two lines about the same outage, in milliseconds. */
const remindMs = 60_000;
/** An outage ends when no call has failed for so many milliseconds: a store that comes back fails a few more. */
const settleMs = 5_000;

interface Outage {
  readonly since: number;
  failedCalls: number;
  lastFailedAt: number;
  loggedAt: number;
  /** When a call succeeded after the last one that failed. */
  answeredAt: number | undefined;
}

/**
 * Logs that the store fails: once when an outage begins, once a minute while calls fail, and once when it ends. It hears
 * of every call, so that a loop that calls again and again needs no line of its own. It has no timer: where nothing
 * calls the store, as after `close`, it logs nothing.
 */
export class StoreOutage {
  readonly #source: OutageSource;
  readonly #counted = new WeakSet<StoreError>();
  #outage: Outage | undefined;
  #probing = false;

  constructor(source: OutageSource) {
    this.#source = source;
  }

  /** A call was answered. Costs next to nothing while there is no outage. */
  answered(): void {
    const outage = this.#outage;
    if (!outage) return;
    const now = this.#source.clock.monotonic();
    outage.answeredAt ??= now;
    if (!this.#probing && now - outage.lastFailedAt >= settleMs) void this.#tryToEnd(outage);
  }

  /** A call failed. Counts only errors that the store has, and not those of one task. */
  failed(error: unknown): void {
    if (!isOutage(error)) return;
    this.#counted.add(error);
    const now = this.#source.clock.monotonic();
    const { logger, queue } = this.#source;
    const reason = error.trouble ?? 'failing';
    const outage = this.#outage;
    if (!outage) {
      this.#outage = { since: now, failedCalls: 1, lastFailedAt: now, loggedAt: now, answeredAt: undefined };
      logger('error', `The store fails: ${causeOf(error)}`, { queue, reason });
      return;
    }
    outage.failedCalls++;
    outage.lastFailedAt = now;
    outage.answeredAt = undefined;
    if (now - outage.loggedAt < remindMs) return;
    outage.loggedAt = now;
    logger('error', `The store still fails: ${causeOf(error)}`, {
      queue,
      reason,
      outageMs: Math.round(now - outage.since),
      failedCalls: outage.failedCalls,
    });
  }

  /** Logs the error of background work, unless it belongs to an outage. */
  report(message: string, details: Readonly<Record<string, unknown>> & { readonly error: unknown }): void {
    if (!isOutage(details.error)) this.#source.logger('error', message, details);
    // Made outside the store, such as that of a time limit of its own.
    else if (!this.#counted.has(details.error)) this.failed(details.error);
  }

  /** Reads may succeed where writes fail. */
  async #tryToEnd(outage: Outage): Promise<void> {
    const { since, failedCalls } = outage;
    const { clock, logger, queue } = this.#source;
    this.#probing = true;
    const works = await this.#source.probe().then(
      () => true,
      () => false,
    );
    this.#probing = false;
    if (!works) outage.lastFailedAt = clock.monotonic();
    // Another call may have failed meanwhile.
    if (!works || outage.failedCalls !== failedCalls) return;
    this.#outage = undefined;
    const outageMs = Math.round((outage.answeredAt ?? clock.monotonic()) - since);
    logger('warn', 'The store works again', { queue, outageMs, failedCalls });
  }
}

/** The details of a line with an error: only what it says where it belongs to an outage: its stack says no more. */
export const detailsOf = (error: unknown, details: Readonly<Record<string, unknown>>) =>
  isOutage(error) ? { ...details, reason: causeOf(error) } : { ...details, error };

const isOutage = (error: unknown): error is StoreError =>
  StoreError.is(error, 'UNAVAILABLE') || StoreError.is(error, 'UNUSABLE');
