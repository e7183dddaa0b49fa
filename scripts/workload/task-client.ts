import { isTerminal } from '@batonjs/lifecycle';
import type { Message, StreamResponse, Task, TaskState } from '@batonjs/protocol';
import type { Observation, SeenEvent, Violation } from '../../test/histories/history.ts';
import type { TaskPlan } from './plan.ts';
import { isPassing, Refused, type Seen, type Wire } from './wire.ts';

/** Where clients live. */
export interface World {
  /** A road to some server. */
  wire(plan: TaskPlan): Wire;
  sleep(ms: number): Promise<void>;
  random(): number;
  /** Resolves when something may be sent that changes a task; rejects when it is too late for that. */
  permission(): Promise<void>;
  /** Resolves when those who are late answer their questions. */
  lateness(): Promise<void>;
  observe(observation: Observation): void;
  complain(violation: Violation): void;
  /** Whether servers close: they end a stream whose task goes on, without an error. */
  readonly serversClose?: boolean;
}

/**
 * One client and its task: it sends, follows, leaves, resumes elsewhere, answers, cancels, and records the events that
 * it got. A request that fails is retried, on any server, until it is answered.
 */
export class TaskClient {
  readonly plan: TaskPlan;
  readonly #world: World;
  readonly #events: SeenEvent[] = [];
  #taskId: string | undefined;
  #state: TaskState | undefined;
  #origin: string | undefined;
  #lastId: string | undefined;
  #sawEnd = false;
  #messages = 0;
  readonly #aside: Promise<void>[] = [];
  #failure: unknown;

  constructor(plan: TaskPlan, world: World) {
    this.plan = plan;
    this.#world = world;
  }

  /** The task, once a server has named it. */
  get taskId(): string | undefined {
    return this.#taskId;
  }

  /** Resolves when the task has ended and everything was checked; rejects with what no server should have answered. */
  async run(): Promise<void> {
    const { work } = this.plan;
    await this.#send([{ data: { ...work } }]);
    this.#besides(this.#cancel());
    while (!this.#isOver()) {
      if (this.#failure) throw this.#failure;
      if (this.#state === 'TASK_STATE_INPUT_REQUIRED') await this.#answer();
      else await this.#watch();
    }
    await Promise.all(this.#aside);
    if (this.#failure) throw this.#failure;
    await this.#refresh();
    if (!this.#ends) this.#complain('doubleTerminal', `it had ended and is ${this.#state}`);
  }

  /** What it saw of the stream, as far as it got. */
  report(): void {
    if (this.#taskId === undefined || this.#events.length === 0) return;
    this.#world.observe({
      type: 'stream',
      client: this.plan.name,
      taskId: this.#taskId,
      events: this.#events,
      complete: this.#sawEnd,
    });
  }

  get #ends(): boolean {
    return this.#state !== undefined && isTerminal(this.#state);
  }

  #isOver(): boolean {
    if (!this.#ends) return false;
    // Who followed hears the end, too, if need be by resuming after it.
    return this.#lastId === undefined || this.#sawEnd;
  }

  async #answer(): Promise<void> {
    if (this.plan.late) await this.#world.lateness();
    await this.#send([{ text: 'Go on' }]);
  }

  /** Something that goes on while the client does something else. */
  #besides(doing: Promise<void>): void {
    this.#aside.push(
      doing.catch((error: unknown) => {
        this.#failure = error;
      }),
    );
  }

  async #send(parts: Message['parts']): Promise<void> {
    const { name, via } = this.plan;
    const messageId = `${name}-${++this.#messages}`;
    const message: Message = {
      messageId,
      role: 'ROLE_USER',
      parts,
      ...(this.#taskId !== undefined && { taskId: this.#taskId }),
    };
    const accepted = () => this.#accepted(messageId);
    if (via === 'stream') return this.#stream('SendStreamingMessage', { message }, accepted);
    const configuration = { returnImmediately: via === 'poll' };
    const result = await this.#retry('SendMessage', { message, configuration });
    if (!result) return;
    this.#learn((result as { task: Task }).task);
    accepted();
  }

  #accepted(messageId: string): void {
    const { name: client } = this.plan;
    this.#world.observe({ type: 'accepted', client, taskId: this.#taskId ?? '', messageId });
  }

  /** Follows the task until it asks or ends, the connection breaks, or the client leaves. */
  async #watch(): Promise<void> {
    const id = this.#taskId ?? '';
    if (this.plan.via === 'poll' && this.#lastId === undefined && this.#world.random() < 0.5) {
      await this.#world.sleep(5 + this.#world.random() * 20);
      return this.#refresh();
    }
    await this.#stream('SubscribeToTask', { id }, () => {}, this.#lastId);
  }

  /** Streams until it breaks or ends; what was sent is sent again until something of it was heard. */
  async #stream(method: string, params: object, heard: () => void, lastEventId?: string): Promise<void> {
    const sends = method !== 'SubscribeToTask';
    for (;;) {
      let events = 0;
      try {
        if (sends) await this.#world.permission();
        for await (const seen of this.#world.wire(this.plan).stream(method, params, lastEventId)) {
          if (events++ === 0 && lastEventId !== undefined && 'task' in seen.event)
            this.#complain('lost', `resuming after ${lastEventId} said that there is a gap`);
          this.#see(seen);
          if (events === 1) heard();
          if (this.#world.random() < this.plan.leaves) return;
          if (!sends && this.#state === 'TASK_STATE_INPUT_REQUIRED') return;
        }
        if (!sends && !this.#sawEnd && !this.#world.serversClose)
          this.#complain('lost', `a stream ended while it was ${this.#state ?? 'unknown'}`);
        return;
      } catch (error) {
        if (error instanceof Refused && error.reason === 'UNSUPPORTED_OPERATION') return this.#refresh();
        if (!isPassing(error)) throw error;
        await this.#world.sleep(10 + this.#world.random() * 30);
        if (events > 0 || !sends) return;
      }
    }
  }

  /** The answer of some server, sooner or later; undefined if the task has ended. */
  async #retry(method: string, params: object): Promise<unknown> {
    for (;;) {
      try {
        if (method !== 'GetTask') await this.#world.permission();
        return await this.#world.wire(this.plan).call(method, params);
      } catch (error) {
        if (error instanceof Refused && error.reason === 'UNSUPPORTED_OPERATION') {
          await this.#refresh();
          return undefined;
        }
        if (!isPassing(error)) throw error;
        await this.#world.sleep(10 + this.#world.random() * 30);
      }
    }
  }

  async #refresh(): Promise<void> {
    this.#learn((await this.#retry('GetTask', { id: this.#taskId ?? '' })) as Task);
  }

  async #cancel(): Promise<void> {
    const { cancelAfterMs } = this.plan;
    if (cancelAfterMs === undefined) return;
    await this.#world.sleep(cancelAfterMs);
    try {
      const task = (await this.#retry('CancelTask', { id: this.#taskId ?? '' })) as Task | undefined;
      if (task && isTerminal(task.status.state)) this.#learn(task);
    } catch (error) {
      if (!(error instanceof Refused) || error.reason !== 'TASK_NOT_CANCELABLE') throw error;
      await this.#refresh();
      if (this.#state === 'TASK_STATE_CANCELED' || !this.#ends)
        this.#complain('doubleTerminal', `it could not be canceled and is ${this.#state}`);
    }
  }

  /** A message to the running task. */
  async #interrupt(chunk: number): Promise<void> {
    const message: Message = {
      messageId: `${this.plan.name}-aside-${chunk}`,
      role: 'ROLE_USER',
      parts: [{ text: 'By the way' }],
      taskId: this.#taskId,
    };
    const configuration = { returnImmediately: true };
    if (await this.#retry('SendMessage', { message, configuration })) this.#accepted(message.messageId);
  }

  #learn(task: Task): void {
    this.#taskId ??= task.id;
    if (task.id !== this.#taskId) this.#complain('duplicated', `a message sent again started ${task.id}`);
    const { state } = task.status;
    if (isTerminal(state)) this.#ended(state);
    // Of two requests at once, one may be answered with a task that has ended by then.
    if (!this.#ends) this.#state = state;
  }

  #see({ id, event }: Seen): void {
    const dot = id?.lastIndexOf('.') ?? -1;
    if (id === undefined || dot < 0) throw new Error(`An event without a position: ${JSON.stringify(event)}`);
    const position = Number(id.slice(dot + 1).split('~', 1)[0]);
    this.#lastId = id;
    if ('task' in event) this.#learn(event.task);
    else if (!this.#ends) this.#state = stateIn(event) ?? this.#state;
    this.#origin ??= id.slice(0, dot);
    if (this.#origin !== id.slice(0, dot)) this.#complain('lost', 'another log took the place of this one');
    this.#events.push({ position, ...content(event) });
    const chunk = chunkIn(event);
    if (chunk !== undefined && this.plan.asides.includes(chunk)) this.#besides(this.#interrupt(chunk));
    const state = stateIn(event);
    if (state === undefined || !isTerminal(state)) return;
    this.#sawEnd = true;
    this.#ended(state);
  }

  #ended(state: TaskState): void {
    this.#world.observe({ type: 'ended', client: this.plan.name, taskId: this.#taskId ?? '', state });
  }

  #complain(kind: Violation['kind'], message: string): void {
    this.#world.complain({ kind, taskId: this.#taskId ?? '', client: this.plan.name, message });
  }
}

const stateIn = (event: StreamResponse): TaskState | undefined => {
  if ('task' in event) return event.task.status.state;
  return 'statusUpdate' in event ? event.statusUpdate.status.state : undefined;
};

const chunkIn = (event: StreamResponse): number | undefined => {
  if (!('artifactUpdate' in event)) return undefined;
  const [part] = event.artifactUpdate.artifact.parts;
  return part && 'data' in part ? (part.data as { chunk: number }).chunk : undefined;
};

const content = (event: StreamResponse): Pick<SeenEvent, 'snapshot' | 'response'> =>
  'task' in event
    ? { snapshot: { status: event.task.status, artifacts: event.task.artifacts } }
    : { response: event };
