import { A2AError, type AgentClient, isTerminal, textOf } from '@batonjs/client';
import type { Task, TaskState } from '@batonjs/protocol';
import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type Task as McpTask,
  RELATED_TASK_META_KEY,
  type Server,
  type ServerContext,
  SUBSCRIPTION_ID_META_KEY,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { detailedTask, readHandle, timesOf } from '../tasks/detailed-task.ts';
import { extensionMissing, takesHandles } from '../tasks/task-options.ts';
import { readTask, type TaskRequests } from '../tasks/task-requests.ts';
import { invalidParams, type OnError, protocolError, resultOf } from '../translation/results.ts';
import { extensionsOf } from '../translation/tool-list.ts';
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
  const statusMessage = textOf(status.message);
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
      throw invalidParams(`The task has ended already: ${status}`);
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

/** A message from a server to its client. */
export interface Notification {
  readonly jsonrpc: '2.0';
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** What a client asked to be told of, and who it is. */
export interface Subscription {
  /** The id of the request, by which the client tells its notifications apart. */
  readonly id: string | number;
  readonly taskIds: readonly string[];
  readonly agent: AgentClient;
  readonly client: ClientCapabilities;
  readonly requests: TaskRequests;
  readonly signal: AbortSignal;
  /** Resolves when the client took the message: the next one waits for that. */
  readonly send: (notification: Notification) => Promise<void>;
}

/**
 * Sends `notifications/tasks` for each change of a task's status until all of them have ended. The first message says
 * which tasks those are: the ones that the caller has. Each of them is shown as it is, so that no change is missed
 * between a read and the subscription. Connections to the agent that break are followed again after the last event.
 */
export async function notifyOfTasks(subscription: Subscription): Promise<void> {
  const { agent, taskIds, signal } = subscription;
  const found = await Promise.all(
    [...new Set(taskIds)].map(async (handle) => {
      const task = await readTask(agent, readHandle(handle).id, { signal }).catch(unlessUnknown);
      return task ? [{ handle, task }] : [];
    }),
  );
  const known = found.flat();
  await notify(subscription, 'notifications/subscriptions/acknowledged', {
    notifications: { taskIds: known.map(({ handle }) => handle) },
  });
  await Promise.all(known.map(({ handle, task }) => followOne(subscription, handle, task)));
}

async function followOne(subscription: Subscription, handle: string, task: Task): Promise<void> {
  const { agent, client, requests, signal } = subscription;
  let last = '';
  const show = async (current: Task) => {
    const shown = detailedTask(current, handle, { client, ...requests });
    const text = JSON.stringify(shown);
    // A task that is read again and again has grown by more than its status.
    if (text === last) return;
    last = text;
    await notify(subscription, 'notifications/tasks', { ...shown });
  };
  if (isTerminal(task)) return show(task);
  const stream = agent.follow(task.id, { signal, extensions: extensionsOf(agent) });
  for await (const { task: whole, statusUpdate } of stream)
    if ((whole || statusUpdate) && stream.task) await show(stream.task);
}

/** A task that the caller does not have is left out. */
function unlessUnknown(error: unknown): undefined {
  if (!A2AError.is(error, 'TASK_NOT_FOUND')) throw error;
}

const notify = ({ id, send }: Subscription, method: string, params: Readonly<Record<string, unknown>>) =>
  send({ jsonrpc: '2.0', method, params: { ...params, _meta: { [SUBSCRIPTION_ID_META_KEY]: id } } });

/** A request to be told of tasks. */
export interface ListenRequest {
  readonly id: string | number;
  readonly taskIds: readonly string[];
  readonly client: ClientCapabilities;
}

/** How many tasks one subscription may name. */
const most = 100;

const ofListen = z.object({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.number()]),
  method: z.literal('subscriptions/listen'),
  params: z.looseObject({
    _meta: z.looseObject({ [CLIENT_CAPABILITIES_META_KEY]: z.looseObject({}) }),
    notifications: z.looseObject({ taskIds: z.unknown() }),
  }),
});
const ofTaskIds = z.array(z.string().min(1)).min(1).max(most);

/**
 * Reads a message as a request to be told of tasks. Undefined if it is another one, which is left to the SDK. Throws a
 * `ProtocolError` for a client without the extension, and for task ids that are none.
 */
export function readListen(message: unknown): ListenRequest | undefined {
  const parsed = ofListen.safeParse(message);
  if (!parsed.success || parsed.data.params.notifications.taskIds === undefined) return undefined;
  const { id, params } = parsed.data;
  const client: ClientCapabilities = params._meta[CLIENT_CAPABILITIES_META_KEY];
  if (!takesHandles(client)) throw extensionMissing();
  const taskIds = ofTaskIds.safeParse(params.notifications.taskIds);
  if (taskIds.success) return { id, taskIds: taskIds.data, client };
  throw invalidParams(`notifications.taskIds is a list of 1 to ${most} ids of tasks`);
}
