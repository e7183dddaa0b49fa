import type { Task } from '@batonjs/protocol';
import { textOf } from '@batonjs/protocol/parts';
import type { AgentClient } from '../agent-client.ts';
import { ClientError } from '../client-error.ts';
import type { MessageInput, SendOptions } from '../conversation/message-input.ts';
import type { FollowOptions } from '../following/task-stream.ts';
import type { AgentEvent, AgentReply } from '../replies/agent-reply.ts';
import { isTerminal } from '../replies/task-states.ts';

/** The replies of the steps that are done, by name. */
export type GraphReplies = Readonly<Record<string, AgentReply>>;

/** One task of a graph. */
export interface GraphStep {
  /** The message of the step. A function receives the replies of the steps that are done. */
  readonly send: MessageInput | ((replies: GraphReplies) => MessageInput | Promise<MessageInput>);
  /** The steps that must be done first. The message refers to their tasks. */
  readonly after?: readonly string[];
  /** The agent of the step. Default: the graph's. Another agent has its own contexts and does not get the graph's. */
  readonly agent?: AgentClient;
  /** Answers a question of the agent. Without an answer, the step fails. */
  readonly answer?: (task: Task) => MessageInput | undefined | Promise<MessageInput | undefined>;
}

/** The state of a step. When another step fails, running steps are `canceled` and waiting steps are `skipped`. */
export type GraphStepState = 'waiting' | 'running' | 'done' | 'failed' | 'canceled' | 'skipped';

/** An event of a graph: a step changed its state, or its stream received an event. */
export interface GraphEvent {
  readonly step: string;
  readonly state: GraphStepState;
  readonly event?: AgentEvent;
  readonly task?: Task;
}

/** Options of a graph. */
export interface GraphOptions
  extends Pick<SendOptions & FollowOptions, 'pollMs' | 'metadata' | 'extensions'> {
  /** Aborting it cancels the running steps and ends the graph with `ABORTED`. */
  readonly signal?: AbortSignal | undefined;
  /** The context of all tasks. Default: the context of the first task. */
  readonly contextId?: string | undefined;
}

/**
 * Tasks that depend on each other, in one context. A step starts as soon as all steps it depends on are done;
 * independent steps run in parallel. When a step fails, the running steps are canceled and the others never start.
 * Iterate the graph once, or await `result()`. Leaving the loop stops the graph, but not the tasks that it started.
 * Spec: §3.4.1.
 */
export class TaskGraph implements AsyncIterable<GraphEvent> {
  readonly #agent: AgentClient;
  readonly #steps: ReadonlyMap<string, GraphStep>;
  readonly #options: GraphOptions;
  readonly #states = new Map<string, GraphStepState>();
  readonly #replies: Record<string, AgentReply> = {};
  readonly #tasks = new Map<string, Task>();
  readonly #queue: GraphEvent[] = [];
  readonly #stopping = new AbortController();
  readonly #events: AsyncGenerator<GraphEvent, void, void>;
  #notify = () => {};
  #contextId: string | undefined;
  #failure: ClientError | undefined;

  /** Throws `TypeError` if steps depend on each other in a circle or on a step that does not exist. */
  constructor(agent: AgentClient, steps: Readonly<Record<string, GraphStep>>, options: GraphOptions = {}) {
    this.#agent = agent;
    this.#steps = new Map(Object.entries(steps));
    this.#options = options;
    this.#contextId = options.contextId;
    for (const name of this.#steps.keys()) this.#states.set(name, 'waiting');
    checkOrder(this.#steps);
    this.#events = this.#run();
  }

  /** The state of each step. */
  get states(): Readonly<Record<string, GraphStepState>> {
    return Object.fromEntries(this.#states);
  }

  /** The number of steps that are done, and of all steps. */
  get progress(): { readonly done: number; readonly total: number } {
    return { done: this.#in('done').length, total: this.#steps.size };
  }

  /** The context of the tasks; undefined until the first task has one. */
  get contextId(): string | undefined {
    return this.#contextId;
  }

  /** Runs the graph to its end. Rejects with `STEP_FAILED` if a step failed, after the other steps were canceled. */
  async result(): Promise<GraphReplies> {
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
      this.#stopping.abort();
    };
    if (signal?.aborted) abort();
    signal?.addEventListener('abort', abort);
    try {
      this.#startReady();
      for (;;) {
        for (let event = this.#queue.shift(); event; event = this.#queue.shift()) yield event;
        if (this.#in('running', 'waiting').length === 0) break;
        await new Promise<void>((resolve) => {
          this.#notify = resolve;
        });
      }
      if (this.#failure) throw this.#failure;
    } finally {
      signal?.removeEventListener('abort', abort);
      this.#stopping.abort();
    }
  }

  #startReady(): void {
    for (const [name, { after = [], agent }] of this.#steps) {
      if (this.#states.get(name) !== 'waiting' || this.#failure) continue;
      if (!after.every((other) => this.#states.get(other) === 'done')) continue;
      // The steps share the context of the first task, so the others wait until it has one.
      const hasOwnContexts = agent !== undefined && agent !== this.#agent;
      if (!hasOwnContexts && !this.#contextId && this.#in('running').length > 0) continue;
      this.#report(name, 'running');
      this.#perform(name).then(
        (reply) => {
          if (this.#states.get(name) !== 'running') return;
          this.#replies[name] = reply;
          this.#report(name, 'done');
          this.#startReady();
        },
        (error) => this.#fail(name, error),
      );
    }
  }

  /** Runs one step and answers the questions of its agent. */
  async #perform(name: string): Promise<AgentReply> {
    const { send, after = [], agent = this.#agent, answer } = this.#steps.get(name)!;
    const isGraphAgent = agent === this.#agent;
    const options = { ...this.#options, contextId: undefined, signal: this.#stopping.signal };
    const references = after.flatMap((other) => this.#replies[other]?.task ?? []);
    const first = typeof send === 'function' ? await send(this.#replies) : send;
    let stream = agent.stream(first, {
      ...options,
      ...(isGraphAgent && { contextId: this.#contextId, references }),
    });
    for (;;) {
      for await (const event of stream) {
        const { task } = stream;
        if (task) this.#tasks.set(name, task);
        if (isGraphAgent) this.#learnContext(task?.contextId ?? event.message?.contextId);
        this.#report(name, this.#states.get(name)!, event, task);
        // The step had no task yet when the others were canceled.
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
    if (this.#failure && this.#states.get(name) === 'running') this.#report(name, 'canceled');
    if (this.#failure || this.#stopping.signal.aborted) return;
    this.#report(name, 'failed');
    const because = error instanceof Error ? error.message : String(error);
    this.#stop(new ClientError('STEP_FAILED', `Step "${name}" failed: ${because}`, error));
  }

  /** Skips the waiting steps and cancels the running ones. */
  async #stop(failure: ClientError): Promise<void> {
    this.#failure ??= failure;
    for (const name of this.#in('waiting')) this.#report(name, 'skipped');
    await Promise.all(this.#in('running').map((name) => this.#cancel(name)));
  }

  async #cancel(name: string): Promise<void> {
    const task = this.#tasks.get(name);
    if (!task || this.#states.get(name) !== 'running') return;
    const agent = this.#steps.get(name)?.agent ?? this.#agent;
    // A task that ended before the request arrived cannot be canceled.
    await agent.cancelTask({ id: task.id }).catch(() => {});
    if (this.#states.get(name) === 'running') this.#report(name, 'canceled');
  }

  #in(...states: GraphStepState[]): string[] {
    return [...this.#states].filter(([, state]) => states.includes(state)).map(([name]) => name);
  }

  #report(step: string, state: GraphStepState, event?: AgentEvent, task = this.#tasks.get(step)): void {
    this.#states.set(step, state);
    this.#queue.push({ step, state, ...(event && { event }), ...(task && { task }) });
    this.#notify();
  }
}

function checkOrder(steps: ReadonlyMap<string, GraphStep>): void {
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
