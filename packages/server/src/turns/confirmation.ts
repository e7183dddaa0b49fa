import type { LazyAbort } from '../base/timing/lazy-abort.ts';
import type { LiveTask } from '../log/live-task.ts';
import { type Heartbeat, type Held, isUnavailable } from './heartbeat.ts';
import type { TurnDependencies } from './turn-dependencies.ts';

/**
 * Whether a turn may still have an effect. A process that was stopped for longer than its lease, or has not read a cancel
 * yet, does not know that its turn is over. A commit that was acknowledged says that it was not when it was sent.
 */
export class Confirmation {
  readonly #held: Held & { readonly live: LiveTask };
  readonly #heartbeat: Heartbeat;
  readonly #dependencies: TurnDependencies;
  /** When the latest commit was sent, on the monotonic clock. */
  #committedAt: number;
  /** How far the wall clock was ahead of the monotonic one: it jumps when a host wakes whose monotonic clock slept. */
  #wallAheadMs: number;

  /** `since`: the monotonic time before the lease was asked for. */
  constructor(
    held: Held & { readonly live: LiveTask },
    heartbeat: Heartbeat,
    dependencies: TurnDependencies,
    since: number,
  ) {
    this.#held = held;
    this.#heartbeat = heartbeat;
    this.#dependencies = dependencies;
    this.#committedAt = since;
    this.#wallAheadMs = dependencies.clock.now() - dependencies.clock.monotonic();
  }

  /** A commit of the turn was acknowledged that was sent at this monotonic time. */
  committed(at: number): void {
    this.#committedAt = at;
  }

  /** Whether the store need not be asked: under `'rerun'`, for a tenth of `leaseMs` after a commit. */
  isFreshAt(now: number): boolean {
    const { clock, options } = this.#dependencies;
    const passedMs = Math.max(now - this.#committedAt, Math.abs(clock.now() - now - this.#wallAheadMs));
    const isRecent = options.restart === 'fail' || passedMs < options.leaseMs / 10;
    return isRecent && this.#heartbeat.isSure(this.#held);
  }

  /** Asks until the store answers. Rejects with the reason of `abort` if the turn is over. */
  async ask(abort: LazyAbort): Promise<void> {
    const { clock } = this.#dependencies;
    for (;;) {
      try {
        const aheadMs = clock.now() - clock.monotonic();
        // The first calls `onLost`, the second the listeners of the log.
        await Promise.all([this.#heartbeat.confirm(this.#held), this.#held.live.refresh()]);
        abort.throwIfAborted();
        this.#wallAheadMs = aheadMs;
        return;
      } catch (error) {
        abort.throwIfAborted();
        if (!isUnavailable(error)) throw error;
        await clock.sleep(20 + clock.random() * 80);
      }
      abort.throwIfAborted();
    }
  }
}
