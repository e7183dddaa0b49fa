import { type AgentClient, isTerminal, isTransient, TaskView } from '@batonjs/client';
import type { Artifact, ListTasksRequest, Message, Task } from '@batonjs/protocol';
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

/** Which tasks a list has, and how often it is read. */
export interface ListOptions extends Omit<ListTasksRequest, 'pageToken' | 'tenant'> {
  /** Milliseconds between two reads of the list; it is read at once after a change that this page sees. Default 5,000. */
  readonly pollMs?: number | undefined;
}

/** Tasks and how current they are. */
export interface ListedTasks {
  /** The newest change first. */
  readonly tasks: readonly Task[];
  /** Whether the agent has more tasks than were asked for. */
  readonly hasMore: boolean;
  readonly connection: Connection;
  readonly error: unknown;
}

/** A list of tasks, read again while it has subscribers. A2A has no subscription to lists. */
export class TaskListFeed extends Feed<ListedTasks> {
  readonly #agent: AgentClient;
  readonly #options: ListOptions;
  #wanted: number;
  #refresh = new AbortController();

  constructor(agent: AgentClient, options: ListOptions) {
    super({ tasks: [], hasMore: false, connection: 'idle', error: undefined });
    this.#agent = agent;
    this.#options = options;
    this.#wanted = options.pageSize ?? 50;
  }

  /** Reads the list at once. */
  readonly refresh = (): void => {
    this.#refresh.abort();
  };

  /** Asks for one page more. */
  readonly more = (): void => {
    this.#wanted += this.#options.pageSize ?? 50;
    this.refresh();
  };

  /** Shows what another feed knows of a task, and reads the list if it is a new one. */
  update(task: Task): void {
    const { tasks } = this.get();
    const index = tasks.findIndex(({ id }) => id === task.id);
    if (index >= 0)
      this.set({ ...this.get(), tasks: tasks.with(index, { ...tasks[index]!, status: task.status }) });
    this.refresh();
  }

  protected start(signal: AbortSignal): void {
    void this.#poll(signal);
  }

  async #poll(signal: AbortSignal): Promise<void> {
    const { pollMs = 5_000 } = this.#options;
    let failures = 0;
    if (this.get().connection === 'idle') this.set({ ...this.get(), connection: 'connecting' });
    while (!signal.aborted) {
      this.#refresh = new AbortController();
      const refreshed = AbortSignal.any([signal, this.#refresh.signal]);
      let pauseMs = pollMs;
      try {
        const read = await this.#read(signal);
        if (signal.aborted) return;
        failures = 0;
        this.#show({ ...read, connection: 'connected', error: undefined });
      } catch (error) {
        if (signal.aborted) return;
        const connection = isTransient(error) ? 'reconnecting' : 'closed';
        this.set({ ...this.get(), connection, error });
        if (connection === 'closed') return;
        pauseMs = backoffMs(++failures, backoff);
      }
      await pause(pauseMs, refreshed);
      // A page that is not seen asks for nothing.
      while (globalThis.document?.hidden && !refreshed.aborted) await pause(pollMs, refreshed);
    }
  }

  async #read(signal: AbortSignal): Promise<Pick<ListedTasks, 'tasks' | 'hasMore'>> {
    const { pollMs: _, pageSize: __, ...filter } = this.#options;
    const tasks: Task[] = [];
    let pageToken = '';
    do {
      const pageSize = Math.min(100, this.#wanted - tasks.length);
      const page = await this.#agent.listTasks(
        { ...filter, pageSize, ...(pageToken && { pageToken }) },
        // This feed shows that the connection is broken, and tries again by itself.
        { signal, attempts: 1 },
      );
      tasks.push(...page.tasks);
      pageToken = page.nextPageToken;
    } while (pageToken && tasks.length < this.#wanted);
    return { tasks, hasMore: pageToken !== '' };
  }

  /** A task that is as it was stays the same object, and so does a list without a change. */
  #show(next: ListedTasks): void {
    const before = this.get();
    const known = new Map(before.tasks.map((task) => [task.id, task]));
    const tasks = next.tasks.map((task) => {
      const old = known.get(task.id);
      return old && JSON.stringify(old) === JSON.stringify(task) ? old : task;
    });
    const isSame = tasks.length === before.tasks.length && tasks.every((task, n) => task === before.tasks[n]);
    if (isSame && before.connection === next.connection && before.hasMore === next.hasMore) return;
    this.set({ ...next, tasks: isSame ? before.tasks : tasks });
  }
}
