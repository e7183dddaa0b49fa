import type { State } from '@batonjs/lifecycle';
import type { TaskTimeouts } from '../../base/timeouts.ts';
import type { Clock } from '../../base/timing/clock.ts';
import type { LazyAbort } from '../../base/timing/lazy-abort.ts';
import { dueWhileRunning } from './task-deadlines.ts';

interface Dependencies {
  readonly clock: Clock;
  readonly options: { readonly timeouts: TaskTimeouts };
}

/** Finds out when a clock of a task runs out while its turn runs. */
export class DeadlineWatch {
  readonly #task: { readonly state: State };
  readonly #dependencies: Dependencies;
  readonly #over: LazyAbort;
  readonly #onLate: () => void;
  /** The position of the status for which the deadline was worked out. */
  #statusVersion = 0;
  /** When the watch wakes: milliseconds since 1970. */
  #wakesAt = Number.POSITIVE_INFINITY;

  /** `onLate`: called when the time is over. `over`: aborted when the turn is over, and the watch with it. */
  constructor(
    task: { readonly state: State },
    dependencies: Dependencies,
    over: LazyAbort,
    onLate: () => void,
  ) {
    this.#task = task;
    this.#dependencies = dependencies;
    this.#over = over;
    this.#onLate = onLate;
  }

  /** To be called at the start and whenever facts were added: a question without an answer has a clock of its own. */
  look(): void {
    const { openTurn, statusVersion } = this.#task.state;
    if (!openTurn || statusVersion === this.#statusVersion) return;
    this.#statusVersion = statusVersion;
    this.#keepTime();
  }

  #keepTime(): void {
    const { clock, options } = this.#dependencies;
    const due = dueWhileRunning(this.#task.state, options.timeouts);
    if (due === undefined || due >= this.#wakesAt) return;
    if (due <= clock.now()) this.#onLate();
    else void this.#wakeAt(due);
  }

  async #wakeAt(due: number): Promise<void> {
    const { clock } = this.#dependencies;
    this.#wakesAt = due;
    await clock.sleep(due - clock.now(), this.#over.signal);
    // A call that had to wake earlier has taken the place of this one.
    if (this.#over.aborted || this.#wakesAt !== due) return;
    this.#wakesAt = Number.POSITIVE_INFINITY;
    // The watch may have woken too early: it looks again.
    this.#keepTime();
  }
}
