import type { Command, LogLine, State } from '@batonjs/lifecycle';
import { weigh } from '@batonjs/lifecycle/internals';
import type { Limits } from '../../base/limits.ts';
import type { Clock } from '../../base/timing/clock.ts';
import { type Decision, decideAll } from '../../log/write/decision.ts';
import { checkDecided } from '../../log/write/task-limits.ts';

/** How long a line waits for a commit that carries it, in milliseconds. Then it gets one of its own. */
const longestWaitMs = 500;

/** The turn whose lines they are. */
interface LoggingTurn {
  readonly state: State;
  /** It has ended its task, or given it back. */
  readonly hasEnded: boolean;
  write(commands: () => readonly Command[]): unknown;
}

/** Lines that an agent logged and that are in no commit yet. */
export class PendingLines {
  readonly #turn: LoggingTurn;
  readonly #clock: Clock;
  readonly #limits: Limits;
  #lines: LogLine[] = [];
  #bytes = 0;
  /** No more are kept, and the log does not say so yet. */
  #isFull = false;
  #isFlushing = false;
  /** How many of the lines the latest decision has. */
  #carried = 0;

  constructor(
    turn: LoggingTurn,
    { clock, options }: { readonly clock: Clock; readonly options: { readonly limits: Limits } },
  ) {
    this.#turn = turn;
    this.#clock = clock;
    this.#limits = options.limits;
  }

  /** Keeps a line, unless the task has as many as it may have, or the turn has it no more. */
  add(line: LogLine): void {
    const { hasEnded, state } = this.#turn;
    const { lines = 0, bytes = 0, full } = state.agent?.logged ?? {};
    if (hasEnded || state.closed || full || this.#isFull) return;
    const weight = weigh(line);
    const { logLinesPerTask, logBytesPerTask } = this.#limits;
    if (lines + this.#lines.length >= logLinesPerTask || bytes + this.#bytes + weight > logBytesPerTask)
      this.#isFull = true;
    else {
      this.#lines.push(line);
      this.#bytes += weight;
    }
    if (!this.#isFlushing) void this.#flushSoon();
  }

  async #flushSoon(): Promise<void> {
    this.#isFlushing = true;
    await this.#clock.sleep(longestWaitMs, undefined, 'idle');
    this.#isFlushing = false;
    try {
      if (this.#isWaiting && !this.#turn.hasEnded) await this.#turn.write(() => []);
    } catch {
      // The lines wait for the next commit, if the turn makes one.
    }
  }

  get #isWaiting(): boolean {
    return this.#lines.length > 0 || this.#isFull;
  }

  /** Decides commands with the lines before them. Throws as `decideWithin` does for the commands alone. */
  decide(state: State, commands: readonly Command[], now: string): Decision {
    this.#carried = 0;
    if (!this.#isWaiting || state.closed) return decideWithin(state, commands, now, this.#limits);
    const lines = [...this.#lines];
    const log: Command = { type: 'log', lines, ...(this.#isFull && { full: true }) };
    let decision: Decision;
    try {
      decision = decideWithin(state, [log, ...commands], now, this.#limits);
    } catch {
      // The log of the task has no room for them, or the commands are refused: then they are here, too.
      decision = decideWithin(state, commands, now, this.#limits);
    }
    this.#carried = lines.length;
    return decision;
  }

  /** What was decided last is in the store. */
  written({ agent }: State): void {
    for (const line of this.#lines.splice(0, this.#carried)) this.#bytes -= weigh(line);
    this.#carried = 0;
    if (agent?.logged?.full) this.#isFull = false;
  }
}

/** Decides commands. Throws as `decide` does, and for a log that they make larger than the limits. */
export function decideWithin(
  state: State | undefined,
  commands: readonly Command[],
  now: string,
  limits: Limits,
): Decision {
  const decision = decideAll(state, commands, now);
  checkDecided(decision, limits);
  return decision;
}
