import type { ChildUpdate, Command, MessageReceived, State, TaskUpdate } from '@batonjs/lifecycle';
import type { Message } from '@batonjs/protocol';
import { type Answer, type Commit, isPending, type Lease, StoreError } from '@batonjs/store';
import type { Inbox } from '../agent/agent.ts';
import { canceled, type Failure, failed } from '../agent/builders.ts';
import { isoTime } from '../base/timing/clock.ts';
import type { LiveTask } from '../log/live-task.ts';
import { type Decision, reportTransitions } from '../log/write/decision.ts';
import { type Written, write } from '../log/write/write.ts';
import { commandsFor, endCommands, pauseCommands, questionCommands, unlessCanceled } from './commands.ts';
import { withAttempts } from './failure.ts';
import { TaskFiles } from './files/task-files.ts';
import { Confirmation, type Heartbeat, type Held, type StallWatch } from './heartbeat.ts';
import { TurnInbox } from './inbox.ts';
import { decideWithin, type PendingLines, pendingLines } from './lines/pending-lines.ts';
import { dueAt } from './order/deadline-watch.ts';
import { giveBack, handOver } from './order/schedule.ts';
import type { Thrown } from './retries/thrown.ts';
import { nextAttempt, type TurnLimit } from './steps/run-limit.ts';
import type { TurnAbort, TurnDependencies, TurnTask } from './turn-dependencies.ts';

/** The objects that all turns of a process share. */
export interface TurnProcess {
  readonly heartbeat: Heartbeat;
  readonly stalls: StallWatch;
}

/**
 * Writes a task whose lease this process holds. Every write carries the fence, so that a process that lost its lease
 * changes nothing: its methods reject with a `StoreError`.
 */
export class TaskWriter implements Held, TurnTask {
  readonly live: LiveTask;
  readonly lease: Lease;
  declare limit?: TurnLimit;
  heldUntil: number;
  /** Called when the store says that the lease is gone. */
  onLost: () => void = () => {};
  readonly #dependencies: TurnDependencies;
  readonly #process: TurnProcess;
  /** Undefined if files lie in the log. */
  readonly files: TaskFiles | undefined;
  readonly #confirmation: Confirmation;
  #lost = false;
  #isClosing = false;
  #failures: WeakSet<object> | undefined;
  #writing = 0;
  #lines: PendingLines | undefined;
  /** The latest of the writes that wait for the store, or for one another. */
  #latest: Promise<unknown> | undefined;
  readonly #dueAt = (state: State) => dueAt(state, this.#dependencies.options.timeouts);
  readonly #giveUp = () => this.#lost || (this.#isClosing && !this.#process.heartbeat.isSure(this));

  /** `since`: the monotonic time before the lease was asked for. */
  constructor(
    live: LiveTask,
    lease: Lease,
    since: number,
    dependencies: TurnDependencies,
    process: TurnProcess,
  ) {
    this.live = live;
    this.lease = lease;
    this.heldUntil = since + dependencies.options.timeouts.leaseMs;
    this.#dependencies = dependencies;
    this.#process = process;
    this.files = dependencies.options.files && new TaskFiles(dependencies.options.files, live);
    this.#confirmation = new Confirmation(this, process.heartbeat, dependencies, since);
  }

  get state(): State {
    return this.live.state;
  }

  /** Whether this turn has ended its task or given it back: its lease is gone then, and was not lost. */
  hasEnded = false;

  /** Whether a write of this turn is under way. */
  get isWriting(): boolean {
    return this.#writing > 0;
  }

  /** The store says that the lease is gone: rejects all further writes. */
  lost(): void {
    this.#lost = true;
    this.onLost();
  }

  /** The server closes: writes stop waiting for the store once the lease may have run out. */
  closing(): void {
    this.#isClosing = true;
  }

  /** To be called right before code of the agent is, with the monotonic time: names the turn that blocks the event loop. */
  enterAgent(at: number = this.#dependencies.clock.monotonic()): void {
    this.#process.stalls.enter(this.live.taskId, at);
  }

  /**
   * To be called right before a step has its effect. Throws or rejects with the reason of `abort` if the turn is over; asks
   * the store if it has to, see `Confirmation`.
   */
  enterStep(abort: TurnAbort): Promise<void> | undefined {
    abort.throwIfAborted();
    const now = this.#dependencies.clock.monotonic();
    if (this.#confirmation.isFreshAt(now)) return void this.enterAgent(now);
    const fail = (error: unknown) => {
      throw abort.aborted ? error : this.#asFailure(error);
    };
    return this.#confirmation.ask(abort).then(() => this.enterAgent(), fail);
  }

  /** Whether a write of this task threw this very error object, rather than the agent. */
  isFailureToWrite(error: unknown): boolean {
    return this.#failures?.has(error as object) === true;
  }

  /**
   * Writes an update of the agent. INPUT_REQUIRED also ends the turn and gives the task back. `more`: artifacts and states
   * that follow, in the same commit; no question. Throws or rejects if it is refused.
   */
  update(update: TaskUpdate, more: readonly TaskUpdate[] = []): Answer<unknown> {
    const asks = 'status' in update && update.status.state === 'TASK_STATE_INPUT_REQUIRED';
    if (!asks) return this.write((state) => commandsFor(state, this.live.taskId, update, ...more));
    return this.write(
      (state) => questionCommands(state, this.live.taskId, update),
      (state) => giveBack(state, this.#dependencies),
    );
  }

  /** The message that an agent answers with. A cancel request that came before it wins. */
  async answer(message: Message): Promise<void> {
    await this.write((state) => unlessCanceled(state, this.live.taskId, [{ type: 'answer', message }]));
  }

  /** Ends the task, if nothing else has, and records its children as they are then. If they are refused, without them. */
  async finish(
    update: TaskUpdate,
    children: readonly ChildUpdate[] = [],
    thrown: Command | undefined = undefined,
  ): Promise<void> {
    try {
      await this.write((state) => endCommands(state, this.live.taskId, update, children, thrown));
    } catch (error) {
      if (children.length === 0 || StoreError.is(error)) throw error;
      const { logger } = this.#dependencies;
      logger('error', 'The children of a task could not be recorded', { taskId: this.live.taskId, error });
      await this.finish(update, [], thrown);
    }
  }

  /** `thrown`: what the agent threw, for operators. */
  fail(failure: Failure, thrown?: Thrown): Promise<void> {
    return this.finish(failed(failure), [], thrown && { type: 'fail-turn', ...thrown });
  }

  cancel(): Promise<void> {
    return this.finish(canceled());
  }

  /** Ends the turn and gives the task back. */
  release(): Promise<void> {
    return this.#release(() => [{ type: 'end-turn' }]);
  }

  /** Gives a task back whose turn is paused still. */
  handBack(): Promise<void> {
    return this.#release(() => []);
  }

  /**
   * Gives the task back in the middle of its turn, whose next attempt starts at a time: `pause` says so. The task shows
   * clients that it is being worked on.
   */
  pause(pause: Command & { type: 'pause-turn' | 'fail-turn' }): Promise<void> {
    return this.#release((state) => pauseCommands(state, this.live.taskId, pause));
  }

  /** The run ends before the turn could be handed on: the next one begins another attempt, if there is one left. */
  async endOvertime(): Promise<void> {
    const { clock, options } = this.#dependencies;
    const failure = this.limit?.failure;
    const failures = (this.state.openTurn?.failures ?? 0) + 1;
    if (failure && failures >= options.maxAttempts) return this.fail(withAttempts(failure, failures));
    return this.pause(nextAttempt(isoTime(clock.now()), failure?.message));
  }

  /** Decided on the whole log, so that no message and no cancel that came meanwhile is missed. */
  async #release(commands: (state: State) => readonly Command[]): Promise<void> {
    await this.write(
      (state) => unlessCanceled(state, this.live.taskId, commands(state)),
      (state) => giveBack(state, this.#dependencies),
    );
  }

  /** Up to when times had come as the turn started here: milliseconds since 1970. */
  startedAt = 0;

  /** Starts the turn or its next attempt, pinned to the version of this process if turns are. `now`: what has come by then. */
  async startTurn(isAlone: boolean, now: number): Promise<void> {
    this.startedAt = now;
    const { queue, version, pinnedTo } = this.#dependencies.options;
    const start: Command = { type: 'start-turn', alone: isAlone || undefined, dueBy: isoTime(now), version };
    await this.write(() => [start], pinnedTo ? () => ({ queue, version: pinnedTo }) : undefined);
  }

  openInbox(signal: AbortSignal, again: readonly MessageReceived[]): Inbox {
    const { clock, options } = this.#dependencies;
    const shown = (message: Message) => options.files?.shown(message, this.live.scope) ?? message;
    return new TurnInbox(this, signal, clock, again, shown);
  }

  /** Gives the task to another process in the middle of its turn: the process that claims it runs the turn again. */
  async handOver(): Promise<void> {
    const turn = handOver(this.#dependencies.options);
    await this.write(
      () => [],
      () => turn,
    );
  }

  /** Writes one after another: two writes of a turn at once would only conflict. At once if the store answers at once. */
  write(
    commands: (state: State) => readonly Command[],
    turn?: (state: State) => Commit['turn'],
  ): Answer<Written> {
    const next = () => this.#write(commands, turn);
    const isAlone = this.#writing++ === 0;
    const written = isAlone ? next() : Promise.resolve(this.#latest).then(next, next);
    if (isPending(written)) this.#latest = written;
    return written;
  }

  /** The lines that the agent logs: its writes carry them. */
  get lines(): PendingLines {
    this.#lines ??= pendingLines(this, this.#dependencies);
    return this.#lines;
  }

  /** Resolves when no write waits any more, later ones included. Never rejects. */
  async idle(): Promise<void> {
    for (let seen: unknown; seen !== this.#latest; ) {
      seen = this.#latest;
      await this.#latest?.catch(() => {});
    }
  }

  #write(
    commands: (state: State) => readonly Command[],
    turn?: (state: State) => Commit['turn'],
  ): Answer<Written> {
    const { clock, onEvent, options } = this.#dependencies;
    let refusal: unknown;
    const decision = (state: State | undefined): Decision => {
      try {
        const now = isoTime(clock.now());
        if (!state || !this.#lines)
          return decideWithin(state, state ? commands(state) : [], now, options.limits);
        return this.#lines.decide(state, commands(state), now);
      } catch (error) {
        refusal = error;
        throw error;
      }
    };
    let released = false;
    const noted = (state: State) => {
      const about = turn!(state);
      released = about?.release === true;
      return about;
    };
    const carried = { writer: this.lease, turn: turn && noted, dueAt: this.#dueAt, giveUp: this.#giveUp };
    const succeeded = (written: Written): Written => {
      this.#writing--;
      if (written.sentAt !== undefined) this.#confirmation.committedAt = written.sentAt;
      this.#lines?.written(this.state);
      const isLast = written.facts.at(-1)?.version === this.live.version;
      this.hasEnded ||= released || (isLast && this.live.state.closed);
      reportTransitions(written.before, this.live, written.facts, onEvent);
      return written;
    };
    const failed = (error: unknown): never => {
      this.#writing--;
      // An error of the decision may come from the agent's update.
      throw error === refusal ? error : this.#asFailure(error);
    };
    const written: Answer<Written> = this.#lost
      ? Promise.reject(new StoreError('FENCED', 'The task belongs to another process'))
      : write(this.live, decision, carried);
    return isPending(written) ? written.then(succeeded, failed) : succeeded(written);
  }

  #asFailure(error: unknown): unknown {
    if (error instanceof Error) this.#failures = (this.#failures ?? new WeakSet()).add(error);
    return error;
  }
}
