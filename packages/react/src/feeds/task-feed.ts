import { type AgentClient, isTerminal, isTransient, TaskView } from '@batonjs/client';
import type { Artifact, ListTasksRequest, Message, Task } from '@batonjs/protocol';
import { backoffMs } from '@batonjs/protocol/timing';
import { backoff, type Connection } from './connection.ts';
import { feedOf } from './feed.ts';
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

export type TaskFeed = ReturnType<typeof taskFeed>;

/** A task, followed while it has subscribers. `onState` is called when the task is in another state. */
export function taskFeed(agent: AgentClient, id: string, onState: (task: Task) => void = () => {}) {
  const view = new TaskView();
  const changed = new Set<string>();
  let link: Connection = 'idle';
  let fault: unknown;
  let lastEventId: string | undefined;
  let state: string | undefined;
  let frame: ReturnType<typeof setTimeout> | undefined;
  const { get, set, subscribe } = feedOf<FollowedTask>(
    { task: undefined, connection: 'idle', error: undefined },
    (signal) => {
      if (link !== 'closed') void follow(signal);
    },
  );

  async function follow(signal: AbortSignal): Promise<void> {
    let failures = 0;
    if (link === 'idle') connect('connecting');
    for (;;) {
      try {
        // Fails at the first failure: this loop shows that the connection is broken, and tries again when the page is back.
        const stream = agent.follow(id, {
          signal,
          followForMs: 0,
          ...(lastEventId && { lastEventId }),
          onOpen: () => {
            failures = 0;
            connect('connected');
          },
        });
        for await (const event of stream) {
          const { task, artifactUpdate } = event;
          for (const { artifactId } of task?.artifacts ?? []) changed.add(artifactId);
          if (artifactUpdate) changed.add(artifactUpdate.artifact.artifactId);
          view.apply(event);
          lastEventId = stream.lastEventId;
          link = 'connected';
          fault = undefined;
          frame ??= setTimeout(() => show(), frameMs);
        }
        if (!signal.aborted) connect('closed');
        return;
      } catch (error) {
        if (signal.aborted) return;
        if (!isTransient(error)) return connect('closed', error);
        connect('reconnecting', error);
        await pause(backoffMs(++failures, backoff), signal);
        if (signal.aborted) return;
      }
    }
  }

  /** Adds messages that streams leave out: those of users. Messages that only this feed knows are later ones. */
  function merge(history: readonly Message[] = []): void {
    const { task } = view;
    const own = task?.history ?? [];
    const ids = new Set(history.map(({ messageId }) => messageId));
    const merged = [...history, ...own.filter(({ messageId }) => !ids.has(messageId))];
    if (!task || merged.length === own.length) return;
    task.history = merged;
    show();
  }

  /** Reads the answer to a question, which another page may have given. */
  async function readAnswer(): Promise<void> {
    const task = await agent.getTask({ id }).catch(() => undefined);
    merge(task?.history);
  }

  function connect(connection: Connection, error?: unknown): void {
    link = connection;
    fault = error;
    show();
  }

  /** Shows the task as it is now. Only what changed is copied: a component may compare artifacts by identity. */
  function show(): void {
    clearTimeout(frame);
    frame = undefined;
    const { task } = view;
    const before = get().task?.artifacts;
    const artifacts = task?.artifacts?.map((artifact, index) => copied(artifact, before?.[index]));
    changed.clear();
    const shown = task && { ...task, ...(artifacts && { artifacts }) };
    set({ task: shown, connection: link, error: fault });
    if (!shown || shown.status.state === state) return;
    if (state?.endsWith('_REQUIRED')) void readAnswer();
    state = shown.status.state;
    onState(shown);
  }

  function copied(artifact: Artifact, before: Artifact | undefined): Artifact {
    const isSame =
      before?.artifactId === artifact.artifactId && before.parts.length === artifact.parts.length;
    return isSame && !changed.has(artifact.artifactId) ? before : { ...artifact, parts: [...artifact.parts] };
  }

  return {
    get,
    subscribe,
    /** Takes over a task that a list or a reply has; of a task that this feed knows already, only the messages. */
    offer(task: Task): void {
      if (view.task) {
        merge(task.history);
        return;
      }
      view.apply({ task });
      state = task.status.state;
      if (isTerminal(task)) link = 'closed';
      show();
    },
  };
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

export type TaskListFeed = ReturnType<typeof taskListFeed>;

/** A list of tasks, read again while it has subscribers. A2A has no subscription to lists. */
export function taskListFeed(agent: AgentClient, options: ListOptions) {
  let reload = new AbortController();
  let wanted = options.pageSize ?? 50;
  /** Reads the list at once. */
  const refresh = (): void => reload.abort();
  /** Asks for one page more. */
  const more = (): void => {
    wanted += options.pageSize ?? 50;
    refresh();
  };
  const { get, set, subscribe } = feedOf<ListedTasks>(
    { tasks: [], hasMore: false, connection: 'idle', error: undefined },
    (signal) => void poll(signal),
  );

  async function poll(signal: AbortSignal): Promise<void> {
    const { pollMs = 5_000 } = options;
    let failures = 0;
    if (get().connection === 'idle') set({ ...get(), connection: 'connecting' });
    while (!signal.aborted) {
      reload = new AbortController();
      const refreshed = AbortSignal.any([signal, reload.signal]);
      let pauseMs = pollMs;
      try {
        const read = await readPages(signal);
        if (signal.aborted) return;
        failures = 0;
        show({ ...read, connection: 'connected', error: undefined });
      } catch (error) {
        if (signal.aborted) return;
        const connection = isTransient(error) ? 'reconnecting' : 'closed';
        set({ ...get(), connection, error });
        if (connection === 'closed') return;
        pauseMs = backoffMs(++failures, backoff);
      }
      await pause(pauseMs, refreshed);
      // A page that is not seen asks for nothing.
      while (globalThis.document?.hidden && !refreshed.aborted) await pause(pollMs, refreshed);
    }
  }

  async function readPages(signal: AbortSignal): Promise<Pick<ListedTasks, 'tasks' | 'hasMore'>> {
    const { pollMs: _, pageSize: __, ...filter } = options;
    const tasks: Task[] = [];
    let pageToken = '';
    do {
      const pageSize = Math.min(100, wanted - tasks.length);
      const page = await agent.listTasks(
        { ...filter, pageSize, ...(pageToken && { pageToken }) },
        // This feed shows that the connection is broken, and tries again by itself.
        { signal, attempts: 1 },
      );
      tasks.push(...page.tasks);
      pageToken = page.nextPageToken;
    } while (pageToken && tasks.length < wanted);
    return { tasks, hasMore: pageToken !== '' };
  }

  /** A task that is as it was stays the same object, and so does a list without a change. */
  function show(next: ListedTasks): void {
    const before = get();
    const known = new Map(before.tasks.map((task) => [task.id, task]));
    const tasks = next.tasks.map((task) => {
      const old = known.get(task.id);
      return old && JSON.stringify(old) === JSON.stringify(task) ? old : task;
    });
    const isSame = tasks.length === before.tasks.length && tasks.every((task, n) => task === before.tasks[n]);
    if (isSame && before.connection === next.connection && before.hasMore === next.hasMore) return;
    set({ ...next, tasks: isSame ? before.tasks : tasks });
  }

  return {
    get,
    subscribe,
    refresh,
    more,
    /** Shows what another feed knows of a task, and reads the list if it is a new one. */
    update(task: Task): void {
      const { tasks } = get();
      const index = tasks.findIndex(({ id }) => id === task.id);
      if (index >= 0) set({ ...get(), tasks: tasks.with(index, { ...tasks[index]!, status: task.status }) });
      refresh();
    },
  };
}
