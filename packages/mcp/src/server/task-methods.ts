import type { AgentClient } from '@batonjs/client';
import type { Task, TaskState } from '@batonjs/protocol';
import {
  type Task as McpTask,
  ProtocolError,
  ProtocolErrorCode,
  RELATED_TASK_META_KEY,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { timesOf } from '../tasks/detailed-task.ts';
import { type OnError, protocolError, resultOf } from '../translation/results.ts';
import type { Conversation } from './conversation.ts';

/** The capability of a server whose tool calls can be tasks of MCP. Spec: MCP 2025-11-25, Tasks. */
export const taskCapability = { list: {}, cancel: {}, requests: { tools: { call: {} } } };

const ofTask = z.looseObject({ taskId: z.string().min(1) });
const ofPage = z.looseObject({ cursor: z.string().optional() });

/** Milliseconds between two reads of a task that clients are advised to. */
const pollInterval = 1_000;

const states: Readonly<Partial<Record<TaskState, McpTask['status']>>> = {
  TASK_STATE_COMPLETED: 'completed',
  TASK_STATE_FAILED: 'failed',
  TASK_STATE_REJECTED: 'failed',
  TASK_STATE_CANCELED: 'cancelled',
  TASK_STATE_INPUT_REQUIRED: 'input_required',
  TASK_STATE_AUTH_REQUIRED: 'input_required',
};

/** A task of A2A as one of MCP. It has the same id, and the agent keeps it: `ttl` is null. */
export function toMcpTask(task: Task): McpTask {
  const { id, status } = task;
  const { createdAt, lastUpdatedAt } = timesOf(id, task);
  const statusMessage = status.message?.parts.map((part) => ('text' in part ? part.text : '')).join('');
  return {
    taskId: id,
    status: states[status.state] ?? 'working',
    ttl: null,
    createdAt: new Date(createdAt).toISOString(),
    lastUpdatedAt: new Date(lastUpdatedAt).toISOString(),
    pollInterval,
    ...(statusMessage && { statusMessage }),
  };
}

/**
 * Adds the methods for tasks to a server: `tasks/get`, `tasks/result`, `tasks/cancel`, `tasks/list`. All is read from
 * the agent, so that any process answers for any task.
 */
export function addTaskMethods(
  server: Server,
  agentOf: (context: ServerContext) => AgentClient,
  converse: (context: ServerContext) => Conversation,
  onError: OnError,
): void {
  const add = <P extends z.ZodType>(
    method: string,
    params: P,
    handle: (params: z.output<P>, context: ServerContext) => Promise<Record<string, unknown>>,
  ) =>
    server.setRequestHandler(method, { params }, async (given, context) => {
      try {
        return await handle(given as z.output<P>, context);
      } catch (error) {
        throw protocolError(error, onError);
      }
    });
  add('tasks/get', ofTask, async ({ taskId }, context) => ({
    ...toMcpTask(await agentOf(context).task(taskId).get()),
  }));
  add('tasks/list', ofPage, async ({ cursor }, context) => {
    const { tasks, nextPageToken } = await agentOf(context).listTasks({
      ...(cursor && { pageToken: cursor }),
    });
    return { tasks: tasks.map(toMcpTask), ...(nextPageToken && { nextCursor: nextPageToken }) };
  });
  add('tasks/cancel', ofTask, async ({ taskId }, context) => {
    const task = agentOf(context).task(taskId);
    const { status } = toMcpTask(await task.get());
    if (status === 'completed' || status === 'failed' || status === 'cancelled')
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `The task has ended already: ${status}`);
    return { ...toMcpTask(await task.cancel()) };
  });
  add('tasks/result', ofTask, async ({ taskId }, context) => {
    const { reply, refusal } = await converse(context).wait(taskId);
    const { _meta, ...result } = resultOf(reply);
    const related = { ..._meta, [RELATED_TASK_META_KEY]: { taskId } };
    if (refusal) return { content: [{ type: 'text', text: refusal }], isError: true, _meta: related };
    return { ...result, _meta: related };
  });
}
