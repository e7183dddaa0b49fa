import type { Task } from '@batonjs/protocol';
import { textOf } from '@batonjs/protocol/parts';
import type { AgentClient } from '../agent-client.ts';
import { ClientError } from '../client-error.ts';
import type { MessageInput, SendOptions } from '../conversation/message-input.ts';
import type { FollowOptions } from '../following/task-stream.ts';
import type { AgentEvent, AgentReply } from '../replies/agent-reply.ts';
import { isTerminal } from '../replies/task-states.ts';

/** What became of the steps that are done. */
export type Replies = Readonly<Record<string, AgentReply>>;

/** One task of a graph. */
export interface Step {
  /** What to ask for; a function is given what came of the steps before. */
  readonly send: MessageInput | ((replies: Replies) => MessageInput | Promise<MessageInput>);
  /** The steps that must be done first. Their tasks are referred to. */
  readonly after?: readonly string[];
  /** Who does it, if not the graph's agent. Another agent has contexts of its own, so it is not given the graph's. */
  readonly agent?: AgentClient;
  /** Answers a question of the agent. Without an answer, the step has failed. */
  readonly answer?: (task: Task) => MessageInput | undefined | Promise<MessageInput | undefined>;
}

/** Where a step stands. When another one fails, a step that runs is `canceled`, and one that waits is `skipped`. */
export type StepState = 'waiting' | 'running' | 'done' | 'failed' | 'canceled' | 'skipped';

/** Something that happened in a graph: a step changed its state, or its stream brought an event. */
export interface GraphEvent {
  readonly step: string;
  readonly state: StepState;
  readonly event?: AgentEvent;
  readonly task?: Task;
}

/** How a graph is run. */
export interface GraphOptions
  extends Pick<SendOptions & FollowOptions, 'pollMs' | 'metadata' | 'extensions'> {
  /** Cancels what runs, and ends the graph with `ABORTED`. */
  readonly signal?: AbortSignal;
  /** The context of all its tasks. Without one, it is that of the first task. */
  readonly contextId?: string;
}

/**
 * Tasks that build on each other, in one context: each starts as soon as all it depends on are done, so that what can run
 * in parallel does. When one fails, those that run are canceled and the others never start. Iterate it once, or await
 * `result()`. Leaving the loop stops the graph, not the tasks that were started. Spec: §3.4.1.
 */
export class TaskGraph implements AsyncIterable<GraphEvent> {
  readonly #agent: AgentClient;
  readonly #steps: ReadonlyMap<string, Step>;
  readonly #options: GraphOptions;
  readonly #states = new Map<string, StepState>();
  readonly #replies: Record<string, AgentReply> = {};
  readonly #tasks = new Map<string, Task>();
  readonly #queue: GraphEvent[] = [];
  readonly #leaving = new AbortController();
  readonly #events: AsyncGenerator<GraphEvent, void, void>;
  #wake = () => {};
  #contextId: string | undefined;
  #failure: ClientError | undefined;

  /** Throws `TypeError` for a step that depends on itself or on none that there is. */
  constructor(agent: AgentClient, steps: Readonly<Record<string, Step>>, options: GraphOptions = {}) {
    this.#agent = agent;
    this.#steps = new Map(Object.entries(steps));
    this.#options = options;
    this.#contextId = options.contextId;
    for (const name of this.#steps.keys()) this.#states.set(name, 'waiting');
    checkOrder(this.#steps);
    this.#events = this.#run();
  }

  /** Where each step stands. */
  get states(): Readonly<Record<string, StepState>> {
    return Object.fromEntries(this.#states);
  }

  /** How many steps are done, of how many. */
  get progress(): { readonly done: number; readonly total: number } {
    return { done: this.#in('done').length, total: this.#steps.size };
  }

  /** The context of its tasks, once it is known. */
  get contextId(): string | undefined {
    return this.#contextId;
  }

  /** Runs to the end. Rejects with `STEP_FAILED` if a step failed, after the rest was canceled. */
  async result(): Promise<Replies> {
    for await (const _ of this);
    return this.#replies;
  }

  [Symbol.asyncIterator](): AsyncGenerator<GraphEvent, void, void> {
    return this.#events;
  }

  async *#run(): AsyncGenerator<GraphEvent, void, void> {
    const { signal } = this.#options;
    const abort = async () => {
      await this.#stop(new ClientError('ABORTED', 'The graph was aborted', signal?.reason));
      this.#leaving.abort();
    };
    if (signal?.aborted) abort();
    signal?.addEventListener('abort', abort);
    try {
      this.#startReady();
      for (;;) {
        for (let event = this.#queue.shift(); event; event = this.#queue.shift()) yield event;
        if (this.#in('running', 'waiting').length === 0) break;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
      if (this.#failure) throw this.#failure;
    } finally {
      signal?.removeEventListener('abort', abort);
      this.#leaving.abort();
    }
  }

  #startReady(): void {
    for (const [name, { after = [], agent }] of this.#steps) {
      if (this.#states.get(name) !== 'waiting' || this.#failure) continue;
      if (!after.every((other) => this.#states.get(other) === 'done')) continue;
      // Until the first task has a context, nobody knows which one the others belong to.
      const isLone = agent !== undefined && agent !== this.#agent;
      if (!isLone && !this.#contextId && this.#in('running').length > 0) continue;
      this.#tell(name, 'running');
      this.#perform(name).then(
        (reply) => {
          if (this.#states.get(name) !== 'running') return;
          this.#replies[name] = reply;
          this.#tell(name, 'done');
          this.#startReady();
        },
        (error) => this.#fail(name, error),
      );
    }
  }

  /** One step, with all the questions it asks. */
  async #perform(name: string): Promise<AgentReply> {
    const { send, after = [], agent = this.#agent, answer } = this.#steps.get(name)!;
    const isOurs = agent === this.#agent;
    const options = { ...this.#options, contextId: undefined, signal: this.#leaving.signal };
    const references = after.flatMap((other) => this.#replies[other]?.task ?? []);
    const first = typeof send === 'function' ? await send(this.#replies) : send;
    let stream = agent.stream(first, {
      ...options,
      ...(isOurs && { contextId: this.#contextId, references }),
    });
    for (;;) {
      for await (const event of stream) {
        const { task } = stream;
        if (task) this.#tasks.set(name, task);
        if (isOurs) this.#learnContext(task?.contextId ?? event.message?.contextId);
        this.#tell(name, this.#states.get(name)!, event, task);
        // Its task was not known when the others were canceled.
        if (this.#failure) await this.#cancel(name);
      }
      const reply = await stream.result();
      const { task } = reply;
      if (!task || task.status.state === 'TASK_STATE_COMPLETED') return reply;
      const next = isTerminal(task) ? undefined : await answer?.(task);
      if (next === undefined) throw new Error(textOf(task.status.message) || task.status.state);
      stream = agent.stream(next, { ...options, task });
    }
  }

  #learnContext(contextId: string | undefined): void {
    if (this.#contextId || !contextId) return;
    this.#contextId = contextId;
    this.#startReady();
  }

  #fail(name: string, error: unknown): void {
    if (this.#failure && this.#states.get(name) === 'running') this.#tell(name, 'canceled');
    if (this.#failure || this.#leaving.signal.aborted) return;
    this.#tell(name, 'failed');
    const because = error instanceof Error ? error.message : String(error);
    this.#stop(new ClientError('STEP_FAILED', `Step "${name}" failed: ${because}`, error));
  }

  /** Starts nothing more, and cancels what runs. */
  async #stop(failure: ClientError): Promise<void> {
    this.#failure ??= failure;
    for (const name of this.#in('waiting')) this.#tell(name, 'skipped');
    await Promise.all(this.#in('running').map((name) => this.#cancel(name)));
  }

  async #cancel(name: string): Promise<void> {
    const task = this.#tasks.get(name);
    if (!task || this.#states.get(name) !== 'running') return;
    const agent = this.#steps.get(name)?.agent ?? this.#agent;
    // That it was done before it could be canceled is no news.
    await agent.cancelTask({ id: task.id }).catch(() => {});
    if (this.#states.get(name) === 'running') this.#tell(name, 'canceled');
  }

  #in(...states: StepState[]): string[] {
    return [...this.#states].filter(([, state]) => states.includes(state)).map(([name]) => name);
  }

  #tell(step: string, state: StepState, event?: AgentEvent, task = this.#tasks.get(step)): void {
    this.#states.set(step, state);
    this.#queue.push({ step, state, ...(event && { event }), ...(task && { task }) });
    this.#wake();
  }
}

function checkOrder(steps: ReadonlyMap<string, Step>): void {
  const checked = new Set<string>();
  const visit = (name: string, path: readonly string[]): void => {
    if (path.includes(name)) throw new TypeError(`Steps wait for each other: ${[...path, name].join(' → ')}`);
    const step = steps.get(name);
    if (!step) throw new TypeError(`Step "${path.at(-1)}" comes after "${name}", which there is not`);
    if (checked.has(name)) return;
    for (const other of step.after ?? []) visit(other, [...path, name]);
    checked.add(name);
  };
  for (const name of steps.keys()) visit(name, []);
}
