import type { Json, Message, Task } from '@batonjs/protocol';
import { textOf } from '@batonjs/protocol/parts';
import type { AgentClient } from '../agent-client.ts';
import type { CallOptions } from '../options/connect-options.ts';
import { isInterrupted, isTerminal } from '../replies/task-states.ts';
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

/** The task that has a message. */
export const taskWith = (tasks: readonly Task[], messageId: string): Task | undefined =>
  tasks.find(({ history = [] }) => history.some((message) => message.messageId === messageId));

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
export interface AnswerNote {
  /** The id under which the page shows the answer. */
  readonly answerId: string;
  /** Where it begins. The messages that answer questions within one answer have the note of its first message. */
  readonly messageId: string;
  readonly given: Readonly<Record<string, number>>;
}

/** The note under a key of a message's metadata; undefined if there is none. */
export function noteOf(message: Message, key: string): AnswerNote | undefined {
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
  readonly note: AnswerNote | undefined;
  /** Undefined while the answer is written, or its question is open. */
  readonly task: Task | undefined;
}

/** The answers of a task, the oldest first: each message of the user begins one, unless it answers within another one. */
export function pastAnswers(task: Task, key: string): PastAnswer[] {
  const { history = [] } = task;
  const starts = history.filter((message) => {
    const note = noteOf(message, key);
    return message.role === 'ROLE_USER' && (!note || note.messageId === message.messageId);
  });
  return starts.map((message, index) => {
    const next = starts[index + 1];
    const then = next ? taskBefore(task, next, noteOf(next, key)) : isTerminal(task) ? task : undefined;
    return { message, note: noteOf(message, key), task: then };
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
