import { type AgentReply, isInterrupted, isTerminal, textOf } from '@batonjs/client';
import type { Task } from '@batonjs/protocol';
import type { CallToolResult, ClientCapabilities } from '@modelcontextprotocol/server';
import { resultOf } from '../translation/results.ts';
import { type ClosedQuestions, type InputRequests, inputRequestsOf } from './input-requests.ts';
import type { TaskSettings } from './task-options.ts';

/** A task with what its client may take: questions, or the result of the call. */
export type DetailedTask = Readonly<ReturnType<typeof membersOf>> & {
  readonly inputRequests?: InputRequests;
  readonly result?: CallToolResult;
};

/** For whom, and how, tasks are shown. */
export interface TaskView {
  readonly client: ClientCapabilities;
  readonly settings: TaskSettings;
  readonly closedQuestions: ClosedQuestions;
}

/**
 * A task as the extension shows it. A tool that ran and failed has `completed` with `isError`: `failed` is for errors of
 * JSON-RPC. A client that cannot be asked gets the question as the result, and goes on with `continue_task`.
 */
export function detailedTask(task: Task, handle: string, view: TaskView): DetailedTask {
  const { state } = task.status;
  const inputRequests = inputRequestsOf(task, view.client, view.closedQuestions);
  if (inputRequests) return { ...membersOf(task, handle, 'input_required', view), inputRequests };
  if (state === 'TASK_STATE_CANCELED') return membersOf(task, handle, 'cancelled', view);
  if (hasResult(task)) return { ...membersOf(task, handle, 'completed', view), result: resultFor(task) };
  return membersOf(task, handle, 'working', view);
}

/**
 * What a call returns to a client that takes handles: the handle of a task that goes on, else the result. A task that
 * waits for what this client cannot be asked is a result, as it is without handles.
 */
export function handleOrResult(reply: AgentReply, view: TaskView): CallToolResult {
  const { task } = reply;
  if (!task) return resultOf(reply);
  const { inputRequests, result, ...members } = detailedTask(task, handleOf(task), view);
  if (result || members.status === 'cancelled') return resultOf(reply);
  // The SDK wants content in every result of a tool; clients that take handles read the others.
  return { content: [], resultType: 'task', ...members };
}

/** Whether the client gets a result: the task ended, or waits for what this client cannot give here. */
const hasResult = (task: Task): boolean => isTerminal(task) || isInterrupted(task);

/** What the call would have returned. */
const resultFor = (task: Task): CallToolResult => ({ ...resultOf({ task }), resultType: 'complete' });

/** A task of the extension. */
function membersOf(
  task: Task,
  handle: string,
  mcpStatus: 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled',
  { settings: { pollIntervalMs, retentionMs } }: TaskView,
) {
  const { createdAt, lastUpdatedAt } = timesOf(handle, task);
  const statusMessage = textOf(task.status.message);
  return {
    taskId: handle,
    status: mcpStatus,
    ...(statusMessage && { statusMessage }),
    createdAt: new Date(createdAt).toISOString(),
    lastUpdatedAt: new Date(lastUpdatedAt).toISOString(),
    // A task that has not ended is kept for as long as it takes.
    ttlMs: isTerminal(task) && retentionMs !== undefined ? lastUpdatedAt - createdAt + retentionMs : null,
    pollIntervalMs,
  };
}

/** The id of a task, as a client of MCP has it, and what it says about its task. */
export interface Handle {
  /** The id at the agent. */
  readonly id: string;
  /** Milliseconds since 1970. Undefined if the handle does not say it. */
  readonly createdAt: number | undefined;
}

const timeOrdered = /^([\da-f]{8})-([\da-f]{4})-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/i;
const dated = /^(.+)~([\da-z]{8,9})$/;

/** The time in a UUID of version 7. */
function timeIn(id: string): number | undefined {
  const [, high, low] = timeOrdered.exec(id) ?? [];
  return high && low ? Number.parseInt(high + low, 16) : undefined;
}

/**
 * The handle of a new task. It is the id of the task if that has a time in it, as ids of Baton do; else the time of the
 * task's first status follows it. A2A does not tell when a task began, and every process has to say the same.
 */
export function handleOf({ id, status }: Pick<Task, 'id' | 'status'>): string {
  if (timeIn(id) !== undefined) return id;
  const time = Date.parse(status.timestamp ?? '');
  return `${id}~${(Number.isNaN(time) ? Date.now() : time).toString(36)}`;
}

/** Reads a handle. The id of a task is one as well. */
export function readHandle(handle: string): Handle {
  const [, id, time] = dated.exec(handle) ?? [];
  if (id !== undefined && time !== undefined) return { id, createdAt: Number.parseInt(time, 36) };
  return { id: handle, createdAt: timeIn(handle) };
}

/** When a task began and changed last. It began with its status where the handle does not say it. */
export function timesOf(
  handle: string,
  { status }: Pick<Task, 'status'>,
): { createdAt: number; lastUpdatedAt: number } {
  const updated = Date.parse(status.timestamp ?? '') || 0;
  const createdAt = readHandle(handle).createdAt ?? updated;
  return { createdAt, lastUpdatedAt: Math.max(updated, createdAt) };
}
