import type { State, TaskUpdate } from '@batonjs/lifecycle';
import type { Message } from '@batonjs/protocol';
import { StoreError } from '@batonjs/store';
import type { Answer } from '../agent/agent.ts';
import { canceled, type Failure, failed } from '../agent/builders.ts';
import { checkAnswer, checkEnd, isUpdates } from '../agent/check-agent-output.ts';
import { type WaitingUpdates, waitingIn } from '../agent/emitting.ts';
import { runIn, updatesIn } from '../base/hooks/telemetry.ts';
import { detailsOf } from '../base/store/store-outage.ts';
import { isoTime } from '../base/timing/clock.ts';
import { LazyAbort } from '../base/timing/deadline-timers.ts';
import { AgentTurn, type Pause, turnStart } from './agent-turn.ts';
import { callCancelHook } from './call-cancel-hook.ts';
import {
  because,
  deadlineExceeded,
  failureOf,
  type Halt,
  processLost,
  serverClosed,
  turnOver,
  withAttempts,
} from './failure.ts';
import { DeadlineWatch, deadlineOf, dueAt, startsAt } from './order/deadline-watch.ts';
import { endQuietly, recordUpdates } from './record-updates.ts';
import { isSpent } from './retries/attempts.ts';
import { nextTryAt } from './retries/retry-policy.ts';
import { describeThrown } from './retries/thrown.ts';
import { TurnLimit } from './steps/run-limit.ts';
import type { TaskWriter } from './task-writer.ts';
import type { Begin, TurnDependencies, TurnEvent } from './turn-dependencies.ts';

type OpenTurn = NonNullable<State['openTurn']>;

/** Does what one leased task needs, decided on its log, until the lease is given back or lost. */
export class TaskRun {
  readonly #task: TaskWriter;
  readonly #dependencies: TurnDependencies;
  readonly #signal = new LazyAbort();
  readonly #over = new LazyAbort();
  /** Why it stopped waiting for the agent. */
  halted: Halt | undefined;
  #onHalt: (halt: Halt) => void = () => {};
  /** Of the turn that this run works on. */
  #attempt = 1;
  /** The turn as this run started it, while it is open. */
  #openTurn: OpenTurn | undefined;
  #deadline: DeadlineWatch | undefined;
  /** When the next attempt of a turn that was paused here starts: milliseconds since 1970. */
  pausedUntil: number | undefined;
  readonly #isAlone: boolean;
  readonly #requestId: string | undefined;
  /** The length of the log when the agent was called; undefined before. */
  beganAt: number | undefined;

  /** `isAlone`: no other turn that could end the process runs beside this one. `requestId`: for the log. */
  constructor(task: TaskWriter, dependencies: TurnDependencies, isAlone: boolean, requestId?: string) {
    this.#task = task;
    this.#dependencies = dependencies;
    this.#isAlone = isAlone;
    this.#requestId = requestId;
    const onLost = () => this.halt('fenced');
    task.onLost = onLost; // It has a name first for the reason given in `#orHalt`.
  }

  /** Never rejects. */
  async run(begin: Begin): Promise<void> {
    const { live } = this.#task;
    const notice = () => this.#notice();
    live.listeners.add(notice);
    try {
      if (!begin.started) void live.subscribe(); // The first write finds out if the log has become longer meanwhile.
      await this.#act(begin);
    } catch (error) {
      if (isLost(error)) this.halted = 'fenced';
      if (this.halted === 'fenced') return;
      this.#dependencies.logger('error', 'A turn could not be recorded', detailsOf(error, this.#logged));
    } finally {
      if (this.halted === 'fenced' && !this.#task.hasEnded) this.#report('lost');
      live.listeners.delete(notice);
      this.#signal.abort(turnOver);
      this.#over.abort(turnOver);
    }
  }

  halt(halt: Halt): void {
    if (this.halted === 'fenced' || this.#over.aborted) return;
    this.halted = halt;
    if (halt === 'shutdown' || halt === 'overtime') this.#task.closing();
    this.#signal.abort(because(halt));
    this.#onHalt(halt);
  }

  /** Ends this attempt. The next one starts at the time: milliseconds since 1970. */
  #pause(until: number): void {
    if (this.halted) return;
    this.pausedUntil = until;
    this.halt('paused');
  }

  async #act(begin: Begin): Promise<void> {
    const task = this.#task;
    const { closed, cancelRequested, openTurn } = task.state;
    const { clock } = this.#dependencies;
    const { timeouts, restart, maxAttempts, files } = this.#dependencies.options;
    if (closed) return;
    if (files) await files.ready();
    this.#attempt = openTurn?.attempt ?? 1;
    if (openTurn && task.lease.cause === 'expired') this.#report('taken-over');
    if (cancelRequested) return this.#endUnattended('canceled');
    // The store's clock may be ahead of this one: the task would be given back and claimed again until they agree.
    const isDue = task.lease.cause === 'due';
    const now = isDue ? Math.max(clock.now(), dueAt(task.state, timeouts) ?? 0) : clock.now();
    const deadline = deadlineOf(task.state, timeouts);
    if (deadline !== undefined && deadline <= now) return this.#endUnattended(deadlineExceeded);
    let isTimed = false;
    if (!begin.started) {
      const isPaused = openTurn?.pausedUntil !== undefined;
      if (openTurn && !isPaused && (restart === 'fail' || (await isSpent(task.live, openTurn, maxAttempts))))
        return this.#endUnattended(processLost);
      const next = startsAt(task.state);
      if (isPaused && next !== undefined && next > now) return task.handBack();
      if (!openTurn && (next === undefined || next > now)) return task.release();
      isTimed = next !== undefined && next > 0;
      await task.startTurn(this.#isAlone, now);
      this.#attempt = task.state.openTurn?.attempt ?? 1;
      if (openTurn && !isPaused) this.#report('rerun');
    }
    this.beganAt = task.live.version;
    await this.#turn(begin, isTimed);
  }

  /** Ends a task that no agent works on: one that waits, whose process died, or whose time is over. */
  async #endUnattended(how: Failure | 'canceled'): Promise<void> {
    const turn = new AgentTurn(this.#task, this.#dependencies, this.#signal);
    const children = await callCancelHook(turn, this.#dependencies, this.#over.signal);
    const failures = this.#task.state.openTurn?.failures ?? 0;
    const update = how === 'canceled' ? canceled() : failed(withAttempts(how, failures));
    await this.#task.finish(update, children);
  }

  async #turn(begin: Begin, isTimed: boolean): Promise<void> {
    const { agent, telemetry, clock, limit, options } = this.#dependencies;
    const task = this.#task;
    this.#openTurn = task.state.openTurn;
    if (limit) task.limit = new TurnLimit(limit, clock.monotonic, () => this.#pause(clock.now()));
    this.#notice();
    if (this.halted) return this.#stop();
    this.#deadline = new DeadlineWatch(task, this.#dependencies, this.#over, () => this.halt('deadline'));
    this.#deadline.look();
    const span = telemetry?.turn(turnStart(task, { ...begin, isTimed }, options, clock.now()));
    let thrown: unknown;
    try {
      const turn = new AgentTurn(task, this.#dependencies, this.#signal, span, this.#pauser);
      task.enterAgent();
      const called: Answer | Promise<Answer> = runIn(span, () => agent(turn));
      // A generator is there at once: most agents are one.
      const answer = isUpdates(called) ? called : await this.#orHalt(Promise.resolve(called));
      if (answer === halted) return await this.#stop();
      if (isUpdates(answer)) await this.#consume(span ? updatesIn(span, answer) : answer, waitingIn(answer));
      else await this.#answer(answer);
    } catch (error) {
      thrown = error;
      if (this.halted) return this.#stop();
      if (task.isFailureToWrite(error)) throw error;
      if (task.state.closed) return;
      if (task.state.cancelRequested) return task.cancel();
      await runIn(span, () => this.#fail(error));
    } finally {
      span?.end({ state: task.state.task?.status.state, halted: this.halted, error: thrown });
    }
  }

  /** After the agent threw: ends the task, or pauses the turn until the next attempt. */
  async #fail(error: unknown): Promise<void> {
    const task = this.#task;
    const { clock, logger, options } = this.#dependencies;
    const attempts = (task.state.openTurn?.failures ?? 0) + 1;
    const at = nextTryAt(error, attempts, options.retry.turns, clock);
    const thrown = describeThrown(error);
    if (at === undefined) {
      logger('error', 'An agent failed', { ...this.#logged, error });
      return task.fail(withAttempts(failureOf(error), attempts), thrown);
    }
    this.pausedUntil = at;
    const retryAt = isoTime(at);
    logger('warn', 'An agent failed, and is tried again', {
      ...this.#logged,
      attempt: attempts,
      retryAt,
      error,
    });
    await task.pause({ type: 'fail-turn', ...thrown, retryAt });
    this.#report('failed');
  }

  /** Undefined where the agent must not run again: waits are sat out then. */
  get #pauser(): Pause | undefined {
    return this.#dependencies.options.restart === 'rerun' ? (until) => this.#pause(until) : undefined;
  }

  get #logged(): Readonly<Record<string, unknown>> {
    return { taskId: this.#task.live.taskId, ...(this.#requestId && { requestId: this.#requestId }) };
  }

  async #answer(message: Message): Promise<void> {
    checkAnswer(message);
    await this.#task.answer(this.#task.files ? await this.#task.files.kept(message) : message);
  }

  async #consume(updates: AsyncIterable<TaskUpdate>, waiting: WaitingUpdates | undefined): Promise<void> {
    const iterator = updates[Symbol.asyncIterator]();
    try {
      if (
        (await this.#orHalt(recordUpdates(iterator, waiting, this.#task, this.#dependencies.clock, this))) !==
        halted
      )
        return;
      // Earlier updates of the agent are written first.
      await this.#task.idle();
      await this.#stop();
    } finally {
      endQuietly(iterator);
    }
  }

  /** The agent has no more to say. */
  async ended(): Promise<void> {
    const { state } = this.#task;
    if (state.closed) return;
    if (state.cancelRequested) return this.#task.cancel();
    checkEnd(state);
    return this.#task.release();
  }

  /** After the runner stopped waiting for the agent. */
  async #stop(): Promise<void> {
    const task = this.#task;
    if (this.halted === 'canceled') {
      this.#report('cancel-forced');
      return task.cancel();
    }
    if (this.halted === 'paused')
      return task.pause({ type: 'pause-turn', until: isoTime(this.pausedUntil ?? 0) });
    if (this.halted === 'deadline') return this.#endUnattended(deadlineExceeded);
    if (this.halted === 'overtime') return task.endOvertime();
    if (this.halted !== 'shutdown') return;
    if (task.state.cancelRequested) return task.cancel();
    return this.#dependencies.options.restart === 'fail' ? task.fail(serverClosed) : task.handOver();
  }

  #report(type: TurnEvent['type']): void {
    const { onEvent, options } = this.#dependencies;
    const { taskId, state } = this.#task.live;
    const crashes = options.restart === 'rerun' ? options.maxAttempts : 1;
    const most = type === 'failed' ? options.retry.turns.retries + 1 : crashes;
    onEvent({ type, taskId, contextId: state.contextId, attempt: this.#attempt, maxAttempts: most });
  }

  #notice(): void {
    const { cancelRequested, openTurn } = this.#task.state;
    const mine = this.#openTurn;
    if (mine && (openTurn?.number !== mine.number || openTurn.attempt !== mine.attempt)) {
      this.#openTurn = undefined;
      // Not what this run writes just now: another process ended the turn, or started it again.
      if (!this.#task.isWriting) this.#task.lost();
    }
    if (this.#task.live.isDiverged) this.#task.lost();
    const { limit } = this.#task;
    if (limit && this.#openTurn && this.#task.isWriting && !this.#task.state.closed) limit.moved();
    this.#deadline?.look();
    if (!cancelRequested || this.#signal.aborted) return;
    this.#signal.abort(because('canceled'));
    const { clock } = this.#dependencies;
    const { cancelGraceMs } = this.#dependencies.options.timeouts;
    void clock.sleep(cancelGraceMs, this.#over.signal).then(() => this.halt('canceled'));
  }

  /** The value, or `halted` if the runner must stop waiting for it. Leaves nothing behind on either. */
  #orHalt<T>(value: Promise<T>): Promise<T | typeof halted> {
    return new Promise((resolve, reject) => {
      // With a name first: V8 allocates a function literal that is assigned to a member among long-lived objects.
      const onHalt = () => resolve(halted);
      this.#onHalt = onHalt;
      if (this.halted) resolve(halted);
      value.then(resolve, reject);
    });
  }
}

const halted = Symbol('halted');

const isLost = (error: unknown): boolean =>
  StoreError.is(error, 'FENCED') || StoreError.is(error, 'LOG_CLOSED');
