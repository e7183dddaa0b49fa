import type { Command } from '@batonjs/lifecycle';
import { unlessAborted } from '@batonjs/protocol/timing';
import type { Turn } from '../../agent/agent.ts';
import type { Failure } from '../../agent/builders.ts';
import type { StepFunction, StepOptions } from '../../agent/retries/retry.ts';

/** The time of a bounded run, which its turns share. */
export interface RunLimit {
  /** In milliseconds. */
  readonly forMs: number;
  /** Aborted when the run is to end soon: it claims nothing more, and hands turns on at their next step or update. */
  readonly ending: AbortSignal;
  /** How many tasks the run has worked on. */
  turns: number;
}

/** Throws `TypeError` for options with which no run can leave a turn to the next one. */
export function mustFitRuns({
  restart = 'fail',
  version,
}: {
  restart?: unknown;
  version?: string | { deploys?: unknown } | undefined;
}): void {
  if (restart === 'fail')
    throw new TypeError("`run: 'due'` needs `restart: 'rerun'`: the next run goes on with a turn");
  if (typeof version === 'object' && (version.deploys ?? 'any') !== 'any')
    throw new TypeError("`run: 'due'` cannot be used with `version.deploys`");
}

/** Finds the moments at which the turn of a bounded run may be handed on: between steps, and after an update. */
export class TurnLimit {
  readonly #limit: RunLimit;
  readonly #now: () => number;
  readonly #handOn: () => void;
  /** The steps that run, with the times at which they began. */
  readonly #steps = new Map<string, number>();
  #movedAt: number;

  /** `now`: of the monotonic clock. `handOn`: ends this attempt of the turn, which does not count. */
  constructor(limit: RunLimit, now: () => number, handOn: () => void) {
    this.#limit = limit;
    this.#now = now;
    this.#handOn = handOn;
    this.#movedAt = now();
  }

  /** To be called when the turn has written something, and when a step has ended. */
  moved(): void {
    this.#movedAt = this.#now();
    if (this.#limit.ending.aborted && this.#steps.size === 0) this.#handOn();
  }

  /** Steps that are noted while they run. None begins once the turn is to be handed on. */
  steps(step: Turn['step'], abort: { readonly signal: AbortSignal }): Turn['step'] {
    return async <T>(name: string, first: StepOptions | StepFunction<T>, second?: StepFunction<T>) => {
      const fn = typeof first === 'function' ? first : second;
      const noted: StepFunction<T> = async (attempt) => {
        this.#ended(name);
        // In the middle of another step: that one ends first.
        if (this.#limit.ending.aborted) await aborted(abort.signal);
        this.#steps.set(name, this.#now());
        return fn!(attempt);
      };
      const given = fn && noted;
      try {
        return await (typeof first === 'function' ? step(name, noted) : step(name, first, given!));
      } finally {
        // The agent must not go on with what the next run does again.
        if (this.#ended(name)) await aborted(abort.signal);
      }
    };
  }

  /** A step does not run any more. Returns whether the turn was handed on. */
  #ended(name: string): boolean {
    this.#steps.delete(name);
    this.moved();
    return this.#limit.ending.aborted && this.#steps.size === 0;
  }

  /** Why an attempt has failed that the end of the run cut off. Undefined if it began late: the next run has more time. */
  get failure(): Failure | undefined {
    const { forMs } = this.#limit;
    const [[name, since] = ['', this.#movedAt]] = [...this.#steps].sort(([, one], [, other]) => one - other);
    if (this.#now() - since < forMs / 2) return undefined;
    const what = name ? `The step "${name}"` : 'The agent, between two steps or updates,';
    return { code: 'STEP_TIMEOUT', message: `${what} takes longer than a run of ${forMs} ms` };
  }
}

/** Leaves the turn to its next attempt, at a time. `message`: why this one failed. */
export const nextAttempt = (at: string, message?: string): Command & { type: 'fail-turn' | 'pause-turn' } =>
  message === undefined ? { type: 'pause-turn', until: at } : { type: 'fail-turn', message, retryAt: at };

/** Rejects with the reason of the signal once it is aborted. */
const aborted = (signal: AbortSignal): Promise<never> => unlessAborted(new Promise(() => {}), signal);
