import { type AgentClient, isTerminal, isTransient, TaskView } from '@batonjs/client';
import type { Artifact, Message, Task } from '@batonjs/protocol';
import { backoffMs } from '@batonjs/protocol/timing';
import { backoff, type Connection } from './connection.ts';
import { Feed } from './feed.ts';
import { pause } from './pause.ts';

/** A task and how current it is. */
export interface FollowedTask {
  /** Undefined until the agent has answered. Its artifacts are other objects after each change. */
  readonly task: Task | undefined;
  readonly connection: Connection;
  /** Why nothing more comes; while the connection is broken, why it broke. */
  readonly error: unknown;
}

/** Milliseconds between two values: chunks that come faster are shown together. */
const frameMs = 16;

/** A task, followed while it has subscribers. */
export class TaskFeed extends Feed<FollowedTask> {
  readonly #agent: AgentClient;
  readonly #id: string;
  readonly #onState: (task: Task) => void;
  readonly #view = new TaskView();
  readonly #changed = new Set<string>();
  #connection: Connection = 'idle';
  #error: unknown;
  #lastEventId: string | undefined;
  #state: string | undefined;
  #frame: ReturnType<typeof setTimeout> | undefined;

  /** `onState` is called when the task is in another state. */
  constructor(agent: AgentClient, id: string, onState: (task: Task) => void = () => {}) {
    super({ task: undefined, connection: 'idle', error: undefined });
    this.#agent = agent;
    this.#id = id;
    this.#onState = onState;
  }

  /** Takes over a task that a list or a reply has; of a task that this feed knows already, only the messages. */
  offer(task: Task): void {
    if (this.#view.task) {
      this.#merge(task.history);
      return;
    }
    this.#view.apply({ task });
    this.#state = task.status.state;
    if (isTerminal(task)) this.#connection = 'closed';
    this.#show();
  }

  protected start(signal: AbortSignal): void {
    if (this.#connection === 'closed') return;
    void this.#follow(signal);
  }

  async #follow(signal: AbortSignal): Promise<void> {
    let failures = 0;
    if (this.#connection === 'idle') this.#connect('connecting');
    for (;;) {
      try {
        // Fails at the first failure: this loop shows that the connection is broken, and tries again when the page is back.
        const stream = this.#agent.follow(this.#id, {
          signal,
          followForMs: 0,
          ...(this.#lastEventId && { lastEventId: this.#lastEventId }),
          onOpen: () => {
            failures = 0;
            this.#connect('connected');
          },
        });
        for await (const event of stream) {
          const { task, artifactUpdate } = event;
          for (const { artifactId } of task?.artifacts ?? []) this.#changed.add(artifactId);
          if (artifactUpdate) this.#changed.add(artifactUpdate.artifact.artifactId);
          this.#view.apply(event);
          this.#lastEventId = stream.lastEventId;
          this.#connection = 'connected';
          this.#error = undefined;
          this.#frame ??= setTimeout(() => this.#show(), frameMs);
        }
        if (!signal.aborted) this.#connect('closed');
        return;
      } catch (error) {
        if (signal.aborted) return;
        if (!isTransient(error)) return this.#connect('closed', error);
        this.#connect('reconnecting', error);
        await pause(backoffMs(++failures, backoff), signal);
        if (signal.aborted) return;
      }
    }
  }

  /** Adds messages that streams leave out: those of users. Messages that only this feed knows are later ones. */
  #merge(history: readonly Message[] = []): void {
    const { task } = this.#view;
    const own = task?.history ?? [];
    const ids = new Set(history.map(({ messageId }) => messageId));
    const merged = [...history, ...own.filter(({ messageId }) => !ids.has(messageId))];
    if (!task || merged.length === own.length) return;
    task.history = merged;
    this.#show();
  }

  /** Reads the answer to a question, which another page may have given. */
  async #readAnswer(): Promise<void> {
    const task = await this.#agent.getTask({ id: this.#id }).catch(() => undefined);
    this.#merge(task?.history);
  }

  #connect(connection: Connection, error?: unknown): void {
    this.#connection = connection;
    this.#error = error;
    this.#show();
  }

  /** Shows the task as it is now. Only what changed is copied: a component may compare artifacts by identity. */
  #show(): void {
    clearTimeout(this.#frame);
    this.#frame = undefined;
    const { task } = this.#view;
    const before = this.get().task?.artifacts;
    const artifacts = task?.artifacts?.map((artifact, index) => this.#shown(artifact, before?.[index]));
    this.#changed.clear();
    const shown = task && { ...task, ...(artifacts && { artifacts }) };
    this.set({ task: shown, connection: this.#connection, error: this.#error });
    if (!shown || shown.status.state === this.#state) return;
    if (this.#state?.endsWith('_REQUIRED')) void this.#readAnswer();
    this.#state = shown.status.state;
    this.#onState(shown);
  }

  #shown(artifact: Artifact, before: Artifact | undefined): Artifact {
    const isSame =
      before?.artifactId === artifact.artifactId && before.parts.length === artifact.parts.length;
    return isSame && !this.#changed.has(artifact.artifactId)
      ? before
      : { ...artifact, parts: [...artifact.parts] };
  }
}
