import { isInterrupted, nextTurnAt, type State } from '@batonjs/lifecycle';
import type { TaskTimeouts } from '../../base/timeouts.ts';
import type { Clock } from '../../base/timing/clock.ts';
import type { LazyAbort } from '../../base/timing/deadline-timers.ts';

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

/**
 * When the store must offer the task to a claimer although it wants no turn: milliseconds since 1970, if ever. At its
 * deadline, or when its next turn starts.
 */
export function dueAt(state: State, timeouts: TaskTimeouts): number | undefined {
  if (state.closed) return undefined;
  const deadline = deadlineOf(state, timeouts);
  // A turn that may start at once is wanted, not due.
  const next = startsAt(state) || undefined;
  if (deadline === undefined || next === undefined) return deadline ?? next;
  return Math.min(deadline, next);
}

/** When the next turn may start: milliseconds since 1970, 0 for at once. Undefined if there is nothing to start it for. */
export function startsAt(state: State): number | undefined {
  const next = nextTurnAt(state);
  return next === undefined ? undefined : next === '' ? 0 : Date.parse(next);
}

/** When the task ends if no turn works on it: milliseconds since 1970, if ever. */
export function deadlineOf(state: State, { taskMs, interruptedMs }: TaskTimeouts): number | undefined {
  const status = state.task?.status;
  const ends = taskMs === undefined ? undefined : Date.parse(state.notBefore ?? state.createdAt) + taskMs;
  if (interruptedMs === undefined || !status?.timestamp || !isInterrupted(status.state)) return ends;
  const asks = Date.parse(status.timestamp) + interruptedMs;
  // An answer that came in time counts, also where its turn begins later.
  const isAnswered = startsAt(state) === 0 && state.pending.some(({ at }) => Date.parse(at) <= asks);
  return isAnswered ? ends : Math.min(ends ?? Number.POSITIVE_INFINITY, asks);
}

/** When the task is due while a turn works on it. */
export function dueWhileRunning(state: State, timeouts: TaskTimeouts): number | undefined {
  const due = deadlineOf(state, timeouts);
  if (timeouts.inactivityMs === undefined) return due;
  return Math.min(due ?? Number.POSITIVE_INFINITY, Date.parse(state.at) + timeouts.inactivityMs);
}
