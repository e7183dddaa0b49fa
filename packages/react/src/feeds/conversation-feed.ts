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
import { Feed } from './feed.ts';
import { newMessage } from './new-message.ts';
import { type ListedTasks, type TaskFeed, TaskListFeed } from './task-feed.ts';

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

/** A conversation, followed while it has subscribers: its open tasks by their streams, new tasks by a list. */
export class ConversationFeed extends Feed<Conversed> {
  readonly #agent: AgentClient;
  readonly #feeds: OtherFeeds;
  readonly #tasks = new Map<string, TaskFeed>();
  readonly #loading = new Set<string>();
  #list: TaskListFeed | undefined;
  #contextId: string | undefined;
  #sent: readonly SentMessage[] = [];
  #signal: AbortSignal | undefined;

  constructor(agent: AgentClient, feeds: OtherFeeds, contextId: string | undefined) {
    super({ ...idle, contextId });
    this.#agent = agent;
    this.#feeds = feeds;
    this.#contextId = contextId;
  }

  /** Sends a message to the task that waits for one, and otherwise starts a task in this context. */
  send(input: MessageInput): Promise<AgentReply> {
    const { current } = this.get();
    const waits = current?.status.state === 'TASK_STATE_INPUT_REQUIRED' ? current : undefined;
    return this.#send(newMessage(input, { taskId: waits?.id, contextId: this.#contextId }));
  }

  /** Answers the question of the current task. Rejects if it asks none. */
  async answer(values: Json): Promise<AgentReply> {
    const { current } = this.get();
    if (current?.status.state !== 'TASK_STATE_INPUT_REQUIRED') throw new Error('No task waits for an answer');
    return this.#send(newMessage(answer(current, values)));
  }

  /** Cancels the current task. Resolves to undefined if there is none. */
  async cancel(): Promise<Task | undefined> {
    const { current } = this.get();
    return current && (await this.#agent.cancelTask({ id: current.id }));
  }

  /** Another feed has seen a change of a task. */
  update(task: Task): void {
    if (task.contextId !== undefined && task.contextId === this.#contextId) this.#add(task);
  }

  protected start(signal: AbortSignal): void {
    this.#signal = signal;
    for (const feed of this.#tasks.values()) this.#follow(feed, signal);
    if (this.#contextId !== undefined) this.#watchList(this.#contextId, signal);
  }

  async #send(message: Message): Promise<AgentReply> {
    this.#put({ message, state: 'sending' });
    try {
      const reply = await this.#agent.send(message, { returnImmediately: true });
      this.#adopt(reply.task?.contextId ?? reply.message?.contextId);
      if (reply.message) this.#put({ message, state: 'answered', reply: reply.message });
      else if (reply.task) {
        this.#add(reply.task);
        this.#feeds.onChange(reply.task);
      }
      return reply;
    } catch (error) {
      this.#put({ message, state: 'failed', error });
      throw error;
    }
  }

  #put(sent: SentMessage): void {
    const { messageId } = sent.message;
    const index = this.#sent.findIndex(({ message }) => message.messageId === messageId);
    this.#sent = index < 0 ? [...this.#sent, sent] : this.#sent.with(index, sent);
    this.#show();
  }

  #adopt(contextId: string | undefined): void {
    if (contextId === undefined || this.#contextId !== undefined) return;
    this.#contextId = contextId;
    this.#feeds.adopt(contextId, this);
    if (this.#signal && !this.#signal.aborted) this.#watchList(contextId, this.#signal);
  }

  #watchList(contextId: string, signal: AbortSignal): void {
    this.#list ??= new TaskListFeed(this.#agent, { contextId, pageSize: 100 });
    const list = this.#list;
    const read = () => {
      const { connection, tasks } = list.get();
      if (connection === 'connected') void this.#load(tasks, signal);
      this.#show();
    };
    const stop = list.subscribe(read);
    signal.addEventListener('abort', stop);
    read();
  }

  /** Reads tasks that this page does not know yet, the oldest first: a list has neither messages nor artifacts. */
  async #load(tasks: readonly Task[], signal: AbortSignal): Promise<void> {
    const unknown = tasks.filter(({ id }) => !this.#tasks.has(id) && !this.#loading.has(id)).toReversed();
    for (const { id } of unknown) this.#loading.add(id);
    const read = unknown.map(async ({ id }) => {
      const task = await this.#agent.getTask({ id }, { signal }).catch(() => undefined);
      return { id, task };
    });
    for (const reading of read) {
      const { id, task } = await reading;
      this.#loading.delete(id);
      // One that cannot be read is tried again with the next list.
      if (task) this.#add(task);
    }
  }

  #add(task: Task): void {
    const feed = this.#tasks.get(task.id) ?? this.#feeds.task(task.id);
    feed.offer(task);
    if (this.#tasks.has(task.id)) return;
    this.#tasks.set(task.id, feed);
    if (this.#signal && !this.#signal.aborted) this.#follow(feed, this.#signal);
    this.#show();
  }

  #follow(feed: TaskFeed, signal: AbortSignal): void {
    const stop = feed.subscribe(() => this.#show());
    signal.addEventListener('abort', stop);
  }

  #show(): void {
    const followed = [...this.#tasks.values()].map((feed) => feed.get());
    const tasks = followed.flatMap(({ task }) => task ?? []);
    const known = new Set(tasks.flatMap(({ history = [] }) => history.map(({ messageId }) => messageId)));
    this.#sent = this.#sent.filter(({ message }) => !known.has(message.messageId));
    const open = followed.filter(({ task }) => task && isOpen(task));
    const list: ListedTasks | undefined = this.#list?.get();
    const sources = list ? [...open, list] : open;
    this.set({
      contextId: this.#contextId,
      tasks,
      sent: this.#sent,
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
}
