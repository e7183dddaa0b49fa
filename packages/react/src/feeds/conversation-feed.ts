import {
  type AgentClient,
  type AgentReply,
  type ArtifactOfTask,
  answer,
  isTerminal,
  type MessageInput,
} from '@batonjs/client';
import type { Artifact, Json, Message, Task } from '@batonjs/protocol';
import type { Connection } from './connection.ts';
import { feedOf } from './feed.ts';
import { newMessage } from './new-message.ts';
import { type ListedTasks, type TaskFeed, type TaskListFeed, taskListFeed } from './task-feed.ts';

/** A message that was sent from this page and is in no task yet. */
export interface SentMessage {
  readonly message: Message;
  readonly state: 'sending' | 'failed' | 'answered';
  /** Why it could not be sent: pass `message` to `send` to try again. The agent gets it once. */
  readonly error?: unknown;
  /** The message with which the agent answered instead of a task. */
  readonly reply?: Message;
}

/** A conversation: the tasks of a context, and what was sent last. */
export interface Conversed {
  /** Undefined until the agent has given the conversation its context. */
  readonly contextId: string | undefined;
  /** The tasks, the oldest first. */
  readonly tasks: readonly Task[];
  /** The messages that no task has: those on their way, and those that the agent answered with a message. */
  readonly sent: readonly SentMessage[];
  /** The task that runs or waits: the latest one that has not ended. */
  readonly current: Task | undefined;
  /** The artifacts of all tasks, the oldest first. A refined one is of a later task, and has the same name. */
  readonly artifacts: readonly (ArtifactOfTask & { readonly artifact: Artifact })[];
  readonly connection: Connection;
  readonly error: unknown;
}

/** A conversation before anything is known of it. */
export const idle: Conversed = {
  contextId: undefined,
  tasks: [],
  sent: [],
  current: undefined,
  artifacts: [],
  connection: 'idle',
  error: undefined,
};

/** The other feeds of the agent, as a conversation needs them. */
export interface OtherFeeds {
  task(id: string): TaskFeed;
  /** Makes the feed of a new conversation that of its context. */
  adopt(contextId: string, feed: ConversationFeed): void;
  /** Notifies all lists and conversations that a task has changed. */
  onChange(task: Task): void;
}

const isOpen = (task: Task): boolean => !isTerminal(task);

export type ConversationFeed = ReturnType<typeof conversationFeed>;

/** A conversation, followed while it has subscribers: its open tasks by their streams, new tasks by a list. */
export function conversationFeed(agent: AgentClient, feeds: OtherFeeds, contextId: string | undefined) {
  const followed = new Map<string, TaskFeed>();
  const loading = new Set<string>();
  let listed: TaskListFeed | undefined;
  let unseen: readonly SentMessage[] = [];
  let running: AbortSignal | undefined;
  let context = contextId;
  const { get, set, subscribe } = feedOf<Conversed>({ ...idle, contextId }, (signal) => {
    running = signal;
    for (const feed of followed.values()) follow(feed, signal);
    if (context !== undefined) watchList(context, signal);
  });

  async function sendMessage(message: Message): Promise<AgentReply> {
    put({ message, state: 'sending' });
    try {
      const reply = await agent.send(message, { returnImmediately: true });
      adopt(reply.task?.contextId ?? reply.message?.contextId);
      if (reply.message) put({ message, state: 'answered', reply: reply.message });
      else if (reply.task) {
        add(reply.task);
        feeds.onChange(reply.task);
      }
      return reply;
    } catch (error) {
      put({ message, state: 'failed', error });
      throw error;
    }
  }

  function put(sent: SentMessage): void {
    const { messageId } = sent.message;
    const index = unseen.findIndex(({ message }) => message.messageId === messageId);
    unseen = index < 0 ? [...unseen, sent] : unseen.with(index, sent);
    show();
  }

  function adopt(contextId: string | undefined): void {
    if (contextId === undefined || context !== undefined) return;
    context = contextId;
    feeds.adopt(contextId, feed);
    if (running && !running.aborted) watchList(contextId, running);
  }

  function watchList(contextId: string, signal: AbortSignal): void {
    listed ??= taskListFeed(agent, { contextId, pageSize: 100 });
    const list = listed;
    const read = () => {
      const { connection, tasks } = list.get();
      if (connection === 'connected') void load(tasks, signal);
      show();
    };
    const stop = list.subscribe(read);
    signal.addEventListener('abort', stop);
    read();
  }

  /** Reads tasks that this page does not know yet, the oldest first: a list has neither messages nor artifacts. */
  async function load(tasks: readonly Task[], signal: AbortSignal): Promise<void> {
    const unknown = tasks.filter(({ id }) => !followed.has(id) && !loading.has(id)).toReversed();
    for (const { id } of unknown) loading.add(id);
    const read = unknown.map(async ({ id }) => {
      const task = await agent.getTask({ id }, { signal }).catch(() => undefined);
      return { id, task };
    });
    for (const reading of read) {
      const { id, task } = await reading;
      loading.delete(id);
      // One that cannot be read is tried again with the next list.
      if (task) add(task);
    }
  }

  function add(task: Task): void {
    const feed = followed.get(task.id) ?? feeds.task(task.id);
    feed.offer(task);
    if (followed.has(task.id)) return;
    followed.set(task.id, feed);
    if (running && !running.aborted) follow(feed, running);
    show();
  }

  function follow(feed: TaskFeed, signal: AbortSignal): void {
    const stop = feed.subscribe(() => show());
    signal.addEventListener('abort', stop);
  }

  function show(): void {
    const shown = [...followed.values()].map((feed) => feed.get());
    const tasks = shown.flatMap(({ task }) => task ?? []);
    const known = new Set(tasks.flatMap(({ history = [] }) => history.map(({ messageId }) => messageId)));
    unseen = unseen.filter(({ message }) => !known.has(message.messageId));
    const open = shown.filter(({ task }) => task && isOpen(task));
    const list: ListedTasks | undefined = listed?.get();
    const sources = list ? [...open, list] : open;
    set({
      contextId: context,
      tasks,
      sent: unseen,
      current: tasks.findLast(isOpen),
      artifacts: tasks.flatMap(({ id: taskId, contextId, artifacts = [] }) =>
        artifacts.map((artifact) => ({ taskId, contextId, artifact })),
      ),
      connection:
        sources.find(({ connection }) => connection === 'reconnecting')?.connection ??
        list?.connection ??
        'idle',
      error: sources.find(({ error }) => error !== undefined)?.error,
    });
  }

  const feed = {
    get,
    subscribe,
    /** Sends a message to the task that waits for one, and otherwise starts a task in this context. */
    send(input: MessageInput): Promise<AgentReply> {
      const { current } = get();
      const waits = current?.status.state === 'TASK_STATE_INPUT_REQUIRED' ? current : undefined;
      return sendMessage(newMessage(input, { taskId: waits?.id, contextId: context }));
    },
    /** Answers the question of the current task. Rejects if it asks none. */
    async answer(values: Json): Promise<AgentReply> {
      const { current } = get();
      if (current?.status.state !== 'TASK_STATE_INPUT_REQUIRED')
        throw new Error('No task waits for an answer');
      return sendMessage(newMessage(answer(current, values)));
    },
    /** Cancels the current task. Resolves to undefined if there is none. */
    async cancel(): Promise<Task | undefined> {
      const { current } = get();
      return current && (await agent.cancelTask({ id: current.id }));
    },
    /** Another feed has seen a change of a task. */
    update(task: Task): void {
      if (task.contextId !== undefined && task.contextId === context) add(task);
    },
  };
  return feed;
}
