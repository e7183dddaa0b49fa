import { detached } from '../base/hooks/telemetry.ts';
import type { TurnDependencies } from './turn-dependencies.ts';

/**
 * Detects while turns run that the event loop was blocked, and logs for how long. Meanwhile the process renews no
 * leases and answers no requests.
 */
export class StallWatch {
  readonly #dependencies: TurnDependencies;
  readonly #stallMs: number;
  #turns = 0;
  #watching = false;
  /** When the watch is due to check again, on the monotonic clock. */
  #nextCheck = 0;
  #latest: string | undefined;
  #suspect: string | undefined;

  constructor(dependencies: TurnDependencies) {
    this.#dependencies = dependencies;
    this.#stallMs = Math.max(200, dependencies.options.timeouts.leaseMs / 10);
  }

  turnStarts(): void {
    this.#turns++;
    if (!this.#watching) detached(this.#dependencies.telemetry, () => void this.#watch());
  }

  turnEnds(): void {
    this.#turns--;
  }

  /** To be called right before code of this task's agent is, with the monotonic time. */
  enter(taskId: string, at: number): void {
    // The first call after the event loop stood still: the one before it is suspected.
    if (at - this.#nextCheck >= this.#stallMs) this.#suspect ??= this.#latest;
    this.#latest = taskId;
  }

  async #watch(): Promise<void> {
    const { clock, logger } = this.#dependencies;
    this.#watching = true;
    while (this.#turns > 0) {
      const turns = this.#turns;
      this.#suspect = undefined;
      this.#nextCheck = clock.monotonic() + this.#stallMs / 2;
      await clock.sleep(this.#stallMs / 2, undefined, 'idle');
      const ms = Math.round(clock.monotonic() - this.#nextCheck);
      const latestTaskId = this.#suspect ?? this.#latest;
      const details = { ms, latestTaskId, turns: Math.max(turns, this.#turns) };
      if (ms >= this.#stallMs) logger('warn', 'The event loop was blocked', details);
    }
    this.#watching = false;
  }
}
