import type { Json, Message, Part, Task } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import { isSameJson } from '@batonjs/protocol/json';
import { textOf } from '@batonjs/protocol/parts';
import type { AgentClient } from '../agent-client.ts';
import type { CallOptions } from '../options/connect-options.ts';
import { isInterrupted, isTerminal } from '../replies/agent-reply.ts';
import type { AnswerStart } from './answer-parts.ts';

/** Cancels the open task of a conversation. Resolves to whether there was one. */
export async function cancelOpenTask(agent: AgentClient, contextId: string): Promise<boolean> {
  const open = openTask(await tasksOf(agent, contextId));
  if (open) await agent.cancelTask({ id: open.id });
  return open !== undefined;
}

/** A tool call that a task waits for, as `streamedAgent` of `@batonjs/ai-sdk` asks for it. */
export interface AwaitedToolCall {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: Json;
  /** `approval`: whether it may run; `output`: what it gives, because a page runs it. */
  readonly needs: 'approval' | 'output' | 'answer';
  readonly reason?: string;
}

/** The most messages of a task that are read. */
const historyLength = 1_000;

/** The newest tasks of a conversation, with their messages and artifacts: the newest change first, at most `count`. */
export async function tasksOf(
  agent: AgentClient,
  contextId: string,
  { count = 20, ...options }: CallOptions & { readonly count?: number } = {},
): Promise<readonly Task[]> {
  const tasks: Task[] = [];
  let pageToken = '';
  // A page is shorter where its tasks are long.
  do {
    const pageSize = Math.min(100, count - tasks.length);
    const page = await agent.listTasks(
      { contextId, pageSize, historyLength, includeArtifacts: true, ...(pageToken && { pageToken }) },
      options,
    );
    tasks.push(...page.tasks);
    pageToken = page.nextPageToken;
  } while (pageToken && tasks.length < count);
  return tasks;
}

const saidIn = ({ history = [] }: Task): Message[] => history.filter(({ role }) => role === 'ROLE_USER');

/** The id under which pages show a message of the user. A new version is shown under that of the first one. */
function shownId({ messageId, metadata }: Message): string {
  const notes = Object.values<unknown>(metadata ?? {}).map(Object) as { replaces?: unknown }[];
  const { replaces } = notes.find((note) => typeof note.replaces === 'string') ?? {};
  return (replaces as string | undefined) ?? messageId;
}

/** The latest version of a message of the user, by the id under which a page shows it, and its task. */
export function latestVersion(tasks: readonly Task[], id: string) {
  const said = tasks.toReversed().flatMap((task) => saidIn(task).map((message) => ({ task, message })));
  return said.findLast(({ message }) => shownId(message) === id);
}

/** The messages of the user that a later version took the place of, with those between them. `messages` are oldest first. */
export function replacedIn(messages: readonly Message[]): ReadonlySet<Message> {
  const kept: Message[] = [];
  const replaced = new Set<Message>();
  for (const message of messages) {
    if (message.role !== 'ROLE_USER') continue;
    const at = kept.findIndex((earlier) => shownId(earlier) === shownId(message));
    for (const each of at === -1 ? [] : kept.splice(at)) replaced.add(each);
    kept.push(message);
  }
  return replaced;
}

/** Whether a message has these parts. The values for a form are compared without the id of the form. */
export const isSameContent = ({ parts }: Message, others: readonly Part[]): boolean =>
  isSameJson(parts.map(contentOf), others.map(contentOf));

const contentOf = (part: Part): Json => {
  if ('text' in part) return { text: part.text };
  if ('url' in part) return { url: part.url };
  if ('raw' in part) return { raw: part.raw };
  const { formId, values = null }: Record<string, Json> = Object(part.data);
  return { data: formId === undefined ? part.data : values };
};

/** Where a message that a page sends belongs in its thread. */
interface Place {
  /** The task that has the message already, with the same content. */
  readonly sentTo?: Task;
  /** The id to send it under: a new version has one of its own, and names that of the page as `replaces`. */
  readonly messageId: string;
  readonly replaces?: string;
  /** The open task of the thread. */
  readonly open?: Task | undefined;
}

/**
 * Finds the place of a message in its thread. An id alone says nothing: pages send an edited message under the id that it
 * had. The open tasks that a new version leaves are canceled.
 */
export async function placeIn(
  agent: AgentClient,
  tasks: readonly Task[],
  { id, isSame }: { readonly id: string; readonly isSame: (message: Message) => boolean },
  options: CallOptions,
): Promise<Place> {
  const version = latestVersion(tasks, id);
  if (!version) return { messageId: id, open: openTask(tasks) };
  if (isSame(version.message)) return { sentTo: version.task, messageId: version.message.messageId };
  const said = tasks.toReversed().flatMap(saidIn);
  const count = said.filter((message) => shownId(message) === id).length;
  const replaced = replacedIn([...said, { ...version.message }]);
  const open = tasks.filter((task) => !isTerminal(task));
  const left = open.filter((task) =>
    saidIn(task)
      .slice(0, 1)
      .some((first) => replaced.has(first)),
  );
  for (const task of left)
    await agent.cancelTask({ id: task.id }, options).catch((error: unknown) => {
      // One that ends by itself meanwhile, or cannot be canceled, is left all the same.
      if (!A2AError.is(error)) throw error;
    });
  const messageId = `${id}-${count + 1}`;
  return { messageId, replaces: id, open: open.find((task) => !left.includes(task)) };
}

/** The task that runs or waits, the newest one. */
export const openTask = (tasks: readonly Task[]): Task | undefined => tasks.find((task) => !isTerminal(task));

/** The tool calls that a task waits for; none for a question of another kind. */
export function awaitedCalls(task: Task | undefined): readonly AwaitedToolCall[] {
  if (!task || !isInterrupted(task)) return [];
  for (const part of task.status.message?.parts ?? []) {
    const { toolCalls }: { toolCalls?: unknown } = 'data' in part ? Object(part.data) : {};
    if (Array.isArray(toolCalls)) return toolCalls.filter(isAwaited);
  }
  return [];
}

const isAwaited = (value: unknown): value is AwaitedToolCall => {
  const { toolCallId, toolName, needs }: Record<string, unknown> = Object(value);
  return typeof toolCallId === 'string' && typeof toolName === 'string' && typeof needs === 'string';
};

/** What a front end notes in the metadata of a message, so that any process can show its answer again. */
interface AnswerNote {
  /** The id under which the page shows the answer. */
  readonly answerId: string;
  /** Where it begins. The messages that answer questions within one answer have the note of its first message. */
  readonly messageId: string;
  readonly given: Readonly<Record<string, number>>;
}

/** The note under a key of a message's metadata; undefined if there is none. */
function noteOf(message: Message, key: string): AnswerNote | undefined {
  const { answerId, messageId, given }: Record<string, unknown> = Object(message.metadata?.[key]);
  if (typeof answerId !== 'string' || typeof messageId !== 'string') return undefined;
  const lengths = Object.entries<number>(Object(given)).filter(([, length]) => Number.isInteger(length));
  return { answerId, messageId, given: Object.fromEntries(lengths) };
}

/** The note of the latest answer of a task: that of its latest message of the user that has one. */
export function latestNote({ history = [] }: Task, key: string): (AnswerNote & AnswerStart) | undefined {
  for (const message of history.toReversed()) {
    const note = message.role === 'ROLE_USER' ? noteOf(message, key) : undefined;
    if (note) return note;
  }
  return undefined;
}

/** What the user said, and the task as it was when it had been answered. */
export interface PastAnswer {
  readonly message: Message;
  /** The id under which pages show the message. */
  readonly id: string;
  readonly note: AnswerNote | undefined;
  /** Undefined while the answer is written, or its question is open. */
  readonly task: Task | undefined;
}

/**
 * The answers of tasks as `tasksOf` gives them, the oldest first: each message of the user begins one, unless it answers
 * within another one. What a new version of a message took the place of is left out.
 */
export function pastAnswers(tasks: readonly Task[], key: string): PastAnswer[] {
  const oldestFirst = tasks.toReversed();
  const replaced = replacedIn(oldestFirst.flatMap(saidIn));
  return oldestFirst.flatMap((task) => answersOf(task, key)).filter(({ message }) => !replaced.has(message));
}

function answersOf(task: Task, key: string): PastAnswer[] {
  const starts = saidIn(task).filter((message) => {
    const note = noteOf(message, key);
    return !note || note.messageId === message.messageId;
  });
  return starts.map((message, index) => {
    const next = starts[index + 1];
    const then = next ? taskBefore(task, next, noteOf(next, key)) : isTerminal(task) ? task : undefined;
    return { message, id: shownId(message), note: noteOf(message, key), task: then };
  });
}

/** The task as it was when it asked what a message answers. */
function taskBefore(task: Task, next: Message, note: AnswerNote | undefined): Task {
  const { history = [], artifacts = [] } = task;
  const before = history.slice(
    0,
    history.findIndex(({ messageId }) => messageId === next.messageId),
  );
  const question = before.findLast(({ role }) => role === 'ROLE_AGENT');
  const lengths = note?.given ?? {};
  return {
    ...task,
    history: before,
    artifacts: artifacts.flatMap((artifact) => {
      const length = lengths[artifact.artifactId];
      return length === undefined
        ? []
        : [{ ...artifact, parts: [{ text: textOf(artifact).slice(0, length) }] }];
    }),
    status: { state: 'TASK_STATE_INPUT_REQUIRED', ...(question && { message: question }) },
  };
}
