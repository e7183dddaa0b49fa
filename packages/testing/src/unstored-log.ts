import type { Child, Command, State, StepFailures, StepResult } from '@batonjs/lifecycle';
import type { Message, Task } from '@batonjs/protocol';
import { type Clock, checkMemory, decideAll, defaultLimits, isoTime } from '@batonjs/server/turns';

/** The state of a task when a turn starts. */
export interface TurnStart {
  readonly message: Message;
  readonly taskId: string;
  readonly task: Task | undefined;
  readonly attempt: number;
  /** Results of steps that an earlier attempt completed. */
  readonly steps: Readonly<Record<string, unknown>>;
  /** What earlier turns remembered, by key. */
  readonly memory: Readonly<Record<string, unknown>>;
  /** The children that earlier turns or attempts recorded, by name. */
  readonly children: Readonly<Record<string, Child>>;
}

/** The log of one turn, decided and folded as the server does it, but kept in no store. */
export class UnstoredLog {
  readonly #taskId: string;
  readonly #clock: Clock;
  #state: State | undefined;
  readonly #steps = new Map<string, StepResult>();

  constructor({ message, taskId, task, attempt, steps, memory, children }: TurnStart, clock: Clock) {
    this.#taskId = taskId;
    this.#clock = clock;
    if (task) this.#resume(task);
    this.write({ type: 'receive', message });
    for (let n = 0; n < attempt; n++) this.write({ type: 'start-turn' });
    for (const [name, result] of Object.entries(steps)) this.write({ type: 'complete-step', name, result });
    this.write({ type: 'change-memory', memory });
    for (const [name, child] of Object.entries(children)) {
      this.create();
      this.write({ type: 'update', update: { child: { name, ...child } } });
    }
  }

  get state(): State {
    if (!this.#state) throw new TypeError('The log is empty');
    return this.#state;
  }

  /** Results of the steps that were completed, by name. */
  get steps(): Readonly<Record<string, unknown>> {
    return Object.fromEntries([...this.#steps].map(([name, { result }]) => [name, result]));
  }

  /** The result of a step, if it was completed. */
  step(name: string): StepResult | undefined {
    return this.#steps.get(name);
  }

  /** What the agent remembers, by key. */
  get memory(): Readonly<Record<string, unknown>> {
    return this.state.agent?.memory ?? {};
  }

  /** How steps failed that were not completed since, by name. */
  get failures(): Readonly<Record<string, StepFailures | undefined>> {
    return this.state.openTurn?.stepFailures ?? {};
  }

  /** Throws the errors that the server throws: an `A2AError` for a command that is not allowed. */
  write(...commands: readonly Command[]): void {
    const { facts, state } = decideAll(this.#state, commands, isoTime(this.#clock.now()));
    if (state) checkMemory(facts, state, defaultLimits);
    this.#state = state;
    // The fact that ends a turn forgets its steps.
    for (const fact of facts)
      if (fact.type === 'step-completed') this.#steps.set(fact.name, { result: fact.result ?? null });
  }

  /** Makes the log a task if it is none. */
  create(): void {
    if (!this.state.task) this.write({ type: 'create', taskId: this.#taskId });
  }

  /** A turn before this one left the task as it is. */
  #resume({ id, contextId, status: { state }, artifacts = [] }: Task): void {
    const messageId = crypto.randomUUID();
    this.write({ type: 'receive', message: { messageId, contextId, role: 'ROLE_USER', parts: [] } });
    this.write({ type: 'start-turn' }, { type: 'create', taskId: id });
    for (const artifact of artifacts) this.write({ type: 'update', update: { artifact } });
    this.write({ type: 'update', update: { status: { state } } }, { type: 'end-turn' });
  }
}
