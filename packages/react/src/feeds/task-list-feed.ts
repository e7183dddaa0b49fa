import { type AgentClient, isTransient } from '@batonjs/client';
import type { ListTasksRequest, Task } from '@batonjs/protocol';
import { backoffMs } from '@batonjs/protocol/timing';
import { backoff, type Connection } from './connection.ts';
import { Feed } from './feed.ts';
import { pause } from './pause.ts';

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
