import type { Child, Command, State } from '@batonjs/lifecycle';
import type { Task } from '@batonjs/protocol';
import { type Clock, checkMemory, decideAll, defaultLimits, isoTime } from '@batonjs/server/turns';

/** The message of the turn, with what its caller sent beside it. */
type Received = Omit<Command & { readonly type: 'receive' }, 'type'>;

/** The task when the turn starts: see the options of `runTurn`. */
interface TurnStart {
  readonly task?: Task | undefined;
  readonly attempt?: number | undefined;
  readonly steps?: Readonly<Record<string, unknown>> | undefined;
  readonly memory?: Readonly<Record<string, unknown>> | undefined;
  readonly children?: Readonly<Record<string, Child>> | undefined;
}

/** The log of one turn, decided and folded as the server does it, but kept in no store. */
export class UnstoredLog {
  readonly taskId: string;
  readonly #clock: Clock;
  #state: State | undefined;
  readonly #steps = new Map<string, unknown>();

  constructor(received: Received, start: TurnStart, clock: Clock) {
    const { task, attempt = 1, steps = {}, memory = {}, children = {} } = start;
    this.taskId = task?.id ?? 'task';
    this.#clock = clock;
    if (task) this.#resume(task);
    this.write({ type: 'receive', ...received });
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
    return Object.fromEntries(this.#steps);
  }

  /** What the agent remembers, by key. */
  get memory(): Readonly<Record<string, unknown>> {
    return this.state.agent?.memory ?? {};
  }

  /** Throws the errors that the server throws: an `A2AError` for a command that is not allowed. */
  write(...commands: readonly Command[]): void {
    const { facts, state } = decideAll(this.#state, commands, isoTime(this.#clock.now()));
    if (state) checkMemory(facts, state, defaultLimits);
    this.#state = state;
    // The fact that ends a turn forgets its steps.
    for (const fact of facts)
      if (fact.type === 'step-completed') this.#steps.set(fact.name, fact.result ?? null);
  }

  /** Makes the log a task if it is none. */
  create(): void {
    if (!this.state.task) this.write({ type: 'create', taskId: this.taskId });
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
