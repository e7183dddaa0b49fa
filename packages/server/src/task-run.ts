import { type Command, isInterrupted, isTerminal, type State, type TaskUpdate } from '@batonjs/lifecycle';
import type { Message } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import { type Commit, isStoreError, type Lease, StoreError } from '@batonjs/store';
import type { Answer } from './agent.ts';
import { canceled, type Failure, failed } from './builders.ts';
import { isoTime } from './clock.ts';
import { decideAll } from './decision.ts';
import { failureOf } from './failure.ts';
import type { LiveTask } from './live-task.ts';
import type { RunSettings } from './settings.ts';
import { dueAt, dueWhileRunning } from './task-clocks.ts';
import { transitionsIn } from './transition.ts';
import { createTurn } from './turn.ts';
import { type Written, write } from './write.ts';

/** Why the runner stops waiting for the agent. */
export type Halt =
  /** The task belongs to another process, or may. Nothing may be written. */
  | 'fenced'
  /** The task was canceled and the agent did not stop in time. */
  | 'canceled'
  | 'deadline'
  | 'shutdown';

/** What this process does with one leased task: decided on its log, until the lease is given back or lost. */
export class TaskRun {
  readonly #live: LiveTask;
  readonly #lease: Lease;
  readonly #settings: RunSettings;
  readonly #signal = new AbortController();
  readonly #over = new AbortController();
  #halted: Halt | undefined;
  #onHalt: (halt: Halt) => void = () => {};
  #canceling = false;
  #writes: Promise<unknown> = Promise.resolve();

  constructor(live: LiveTask, lease: Lease, settings: RunSettings) {
    this.#live = live;
    this.#lease = lease;
    this.#settings = settings;
  }

  /** Never rejects. */
  async run(started: boolean): Promise<void> {
    const { log } = this.#settings;
    const { taskId } = this.#live;
    const stopListening = this.#live.onChange(() => this.#notice());
    try {
      if (!started) await this.#live.watch();
      await this.#act(started);
    } catch (error) {
      const lost =
        isStoreError(error, 'FENCED') || isStoreError(error, 'LOG_CLOSED') || this.#halted === 'fenced';
      log(lost ? 'info' : 'error', lost ? 'A turn lost its task' : 'A turn could not be recorded', {
        taskId,
        error,
      });
    } finally {
      stopListening();
      this.#signal.abort(new Error('The turn is over'));
      this.#over.abort();
    }
  }

  halt(halt: Halt): void {
    if (this.#halted === 'fenced' || this.#over.signal.aborted) return;
    this.#halted = halt;
    this.#signal.abort(new Error(reasons[halt]));
    this.#onHalt(halt);
  }

  async #act(started: boolean): Promise<void> {
    const { state } = this.#live;
    const { clock, clocks, restart, maxAttempts } = this.#settings;
    if (state.closed) return;
    if (state.cancelRequested) return void (await this.#finish(canceled()));
    if ((dueAt(state, clocks) ?? Number.POSITIVE_INFINITY) <= clock.now())
      return this.#fail(deadlineExceeded);
    if (started) return this.#turn();
    const { openTurn } = state;
    if (openTurn && (restart === 'fail' || openTurn.attempt >= maxAttempts)) return this.#fail(processLost);
    if (!openTurn && state.untaken.length === 0 && !state.woken) return void (await this.#release());
    await this.#write(() => [{ type: 'start-turn' }]);
    await this.#turn();
  }

  async #turn(): Promise<void> {
    const { agent, log } = this.#settings;
    this.#notice();
    void this.#keepTime();
    try {
      const turn = createTurn({
        live: this.#live,
        lease: this.#lease,
        settings: this.#settings,
        signal: this.#signal.signal,
        write: (command) => this.#write(() => [command]),
      });
      const answer = await this.#orHalt(new Promise<Answer>((resolve) => resolve(agent(turn))));
      if (answer === halted) return await this.#stop();
      if (Symbol.asyncIterator in answer) await this.#consume(answer);
      else await this.#answer(answer);
    } catch (error) {
      if (this.#halted) return this.#stop();
      if (isLost(error) || isStoreError(error, 'UNAVAILABLE')) throw error;
      if (this.#live.state.closed) return;
      if (this.#live.state.cancelRequested) return void (await this.#finish(canceled()));
      log('error', 'An agent failed', { taskId: this.#live.taskId, error });
      await this.#fail(failureOf(error));
    }
  }

  async #answer(message: Message): Promise<void> {
    if (typeof message !== 'object' || message === null || !('parts' in message)) {
      throw new A2AError('INVALID_AGENT_RESPONSE', 'The agent returned neither a message nor updates');
    }
    if (this.#live.state.cancelRequested) return void (await this.#finish(canceled()));
    await this.#write(() => [{ type: 'answer', message }]);
  }

  async #consume(updates: AsyncIterable<TaskUpdate>): Promise<void> {
    const iterator = updates[Symbol.asyncIterator]();
    let refusal: unknown;
    try {
      for (;;) {
        const pending = refusal && iterator.throw ? iterator.throw(refusal) : iterator.next();
        refusal = undefined;
        const next = await this.#orHalt(pending);
        if (next === halted) return await this.#stop();
        if (next.done) return await this.#ended();
        try {
          await this.#update(next.value);
        } catch (error) {
          // What the agent may not do is its own problem: thrown at the `yield`, where it can be caught.
          if (!A2AError.is(error) || !iterator.throw) throw error;
          refusal = error;
          continue;
        }
        const { closed, openTurn } = this.#live.state;
        if (closed || !openTurn) return;
      }
    } finally {
      // Not awaited: an agent that never returns must not keep the task.
      iterator.return?.().then(undefined, () => {});
    }
  }

  /** The agent has no more to say. */
  async #ended(): Promise<void> {
    const { state } = this.#live;
    if (state.closed) return;
    if (state.cancelRequested) return void (await this.#finish(canceled()));
    if (state.task && isInterrupted(state.task.status.state)) return void (await this.#release());
    throw new A2AError('INVALID_AGENT_RESPONSE', 'The agent ended without saying how the task ended');
  }

  async #update(update: TaskUpdate): Promise<void> {
    const asks = 'status' in update && update.status.state === 'TASK_STATE_INPUT_REQUIRED';
    if (!asks) return void (await this.#write((state) => this.#commandsFor(state, update)));
    await this.#write(
      (state) =>
        // Somebody wants it ended: asking the client for more would hide that until the next message.
        state.cancelRequested
          ? this.#commandsFor(state, canceled())
          : [...this.#commandsFor(state, update), { type: 'end-turn' }],
      (state) => (state.closed ? undefined : this.#releasing(state)),
    );
  }

  #commandsFor(state: State, update: TaskUpdate): Command[] {
    const { factsPerTask, bytesPerTask } = this.#settings.limits;
    const ends = 'status' in update && isTerminal(update.status.state);
    if (!ends && (state.version >= factsPerTask || state.weight >= bytesPerTask)) {
      throw new A2AError('RESOURCE_EXHAUSTED', 'The task has reached the size limit of this server');
    }
    const create: Command[] = state.task ? [] : [{ type: 'create', taskId: this.#live.taskId }];
    return [...create, { type: 'update', update }];
  }

  /** After the runner stopped waiting for the agent. */
  async #stop(): Promise<void> {
    if (this.#halted === 'canceled') await this.#finish(canceled());
    else if (this.#halted === 'deadline') await this.#fail(deadlineExceeded);
    else if (this.#halted === 'shutdown') {
      if (this.#live.state.cancelRequested) await this.#finish(canceled());
      else if (this.#settings.restart === 'fail') await this.#fail(serverClosed);
      // The turn stays open in the log: whoever claims the task next runs it again.
      else
        await this.#write(
          () => [],
          () => ({ queue: this.#settings.queue, release: true, want: true }),
        );
    }
  }

  #fail(failure: Failure): Promise<void> {
    return this.#finish(failed(failure));
  }

  async #finish(update: TaskUpdate): Promise<void> {
    await this.#write((state) => (state.closed ? [] : this.#commandsFor(state, update)));
  }

  /** Gives the task back. A message that came meanwhile is seen, because the release is decided on the whole log. */
  async #release(): Promise<void> {
    await this.#write(
      (state) => [
        { type: 'end-turn' },
        ...(state.cancelRequested ? this.#commandsFor(state, canceled()) : []),
      ],
      (state) => (state.closed ? undefined : this.#releasing(state)),
    );
  }

  #releasing({ untaken, woken }: State): Commit['turn'] {
    return { queue: this.#settings.queue, release: true, want: untaken.length > 0 || woken !== undefined };
  }

  /** One write of this turn after another: two at once would only get into each other's way. */
  #write(commands: (state: State) => Command[], turn?: (state: State) => Commit['turn']): Promise<Written> {
    const written = this.#writes.then(() => this.#writeNow(commands, turn));
    this.#writes = written.catch(() => {});
    return written;
  }

  async #writeNow(
    commands: (state: State) => Command[],
    turn?: (state: State) => Commit['turn'],
  ): Promise<Written> {
    if (this.#halted === 'fenced') throw new StoreError('FENCED', 'The task belongs to another process');
    const { clock, clocks, onTransition } = this.#settings;
    let before = this.#live.known;
    const written = await write(
      this.#live,
      (state) => {
        before = state;
        return decideAll(state, state ? commands(state) : [], isoTime(clock.now()));
      },
      {
        writer: this.#lease,
        turn,
        dueAt: (state) => dueAt(state, clocks),
        giveUp: () => this.#halted === 'fenced',
      },
    );
    const facts = written.facts.map(({ fact }) => fact);
    for (const transition of transitionsIn(before, this.#live.taskId, facts)) onTransition(transition);
    return written;
  }

  #notice(): void {
    if (this.#canceling || !this.#live.state.cancelRequested || this.#live.state.closed) return;
    this.#canceling = true;
    this.#signal.abort(new Error(reasons.canceled));
    const { clock, cancelGraceMs } = this.#settings;
    void clock.sleep(cancelGraceMs, this.#over.signal).then(() => this.halt('canceled'));
  }

  /** Ends the turn when a clock of the task runs out. */
  async #keepTime(): Promise<void> {
    const { clock, clocks } = this.#settings;
    for (;;) {
      const due = dueWhileRunning(this.#live.state, clocks);
      if (due === undefined) return;
      if (due <= clock.now()) return this.halt('deadline');
      await clock.sleep(due - clock.now(), this.#over.signal);
      if (this.#over.signal.aborted) return;
    }
  }

  /** The value, or `halted` if the runner must stop waiting for it. Leaves nothing behind on either. */
  #orHalt<T>(value: Promise<T>): Promise<T | typeof halted> {
    return new Promise((resolve, reject) => {
      this.#onHalt = () => resolve(halted);
      if (this.#halted) resolve(halted);
      value.then(resolve, reject);
    });
  }
}

const halted = Symbol('halted');

const reasons: Record<Halt, string> = {
  fenced: 'The task belongs to another process now',
  canceled: 'The task was canceled',
  deadline: 'The time for the task is over',
  shutdown: 'The server closes',
};

const isLost = (error: unknown): boolean =>
  isStoreError(error, 'FENCED') || isStoreError(error, 'LOG_CLOSED');

const deadlineExceeded: Failure = {
  code: 'DEADLINE_EXCEEDED',
  message: 'The task took too long',
  retryable: true,
};
const processLost: Failure = {
  code: 'PROCESS_LOST',
  message: 'The process that worked on the task died',
  retryable: true,
};
const serverClosed: Failure = {
  code: 'SERVER_CLOSED',
  message: 'The server closed before the task was done',
  retryable: true,
};
