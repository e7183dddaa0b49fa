import { A2AError, type AgentClient, type CallOptions } from '@batonjs/client';
import { formOf } from '@batonjs/extensions/client';
import type { Task } from '@batonjs/protocol';
import { isObject } from '@batonjs/protocol/json';
import {
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { questionOf } from '../translation/question.ts';
import { describeFailure, invalidParams, type OnError } from '../translation/results.ts';
import { extensionsOf } from '../translation/tool-list.ts';
import { detailedTask, readHandle, type TaskView } from './detailed-task.ts';
import type { ClosedQuestions } from './input-requests.ts';
import { capabilitiesOf, extensionMissing, type TaskSettings, takesHandles } from './task-options.ts';

/** What requests about tasks share. */
export interface TaskRequests {
  readonly settings: TaskSettings;
  readonly closedQuestions: ClosedQuestions;
  readonly onError: OnError;
}

const ofTask = z.looseObject({ taskId: z.string().min(1) });

/** Milliseconds in which the agent has to answer: a client of MCP gives a request up after a minute. */
const timeoutMs = 30_000;

/** Reads a task of the agent, without its history. Rejects with `TASK_NOT_FOUND` if the caller has no such task. */
export const readTask = (agent: AgentClient, id: string, options: CallOptions = {}): Promise<Task> =>
  agent.getTask({ id, historyLength: 0 }, { timeoutMs, extensions: extensionsOf(agent), ...options });

/**
 * Adds `tasks/get`, `tasks/update` and `tasks/cancel` to a server of MCP 2026-07-28. All is read from the agent, so that
 * any process answers for any task. The SDK refuses nothing here: the capability is checked in each request.
 */
export function addTaskRequests(
  server: Server,
  agentOf: (context: ServerContext) => AgentClient,
  { settings, closedQuestions, onError }: TaskRequests,
): void {
  const add = (
    method: string,
    handle: (agent: AgentClient, taskId: string, context: ServerContext) => Promise<object>,
  ) =>
    server.setRequestHandler(method, { params: ofTask }, async ({ taskId }, context) => {
      if (!takesHandles(capabilitiesOf(context))) throw extensionMissing();
      try {
        return { resultType: 'complete', ...(await handle(agentOf(context), taskId, context)) };
      } catch (error) {
        throw taskFailure(error, onError);
      }
    });
  add('tasks/get', async (agent, handle, context) => {
    const view: TaskView = { client: capabilitiesOf(context), settings, closedQuestions };
    return detailedTask(await readTask(agent, readHandle(handle).id), handle, view);
  });
  add('tasks/update', async (agent, handle, context) => {
    await update(agent, await readTask(agent, readHandle(handle).id), responsesIn(context), closedQuestions);
    return {};
  });
  add('tasks/cancel', async (agent, handle) => {
    await cancelTask(agent, readHandle(handle).id);
    return {};
  });
}

/** The SDK takes `inputResponses` out of the params, and leaves out values that are no objects. */
function responsesIn({ mcpReq }: ServerContext): Readonly<Record<string, unknown>> {
  const { inputResponses } = mcpReq;
  if (inputResponses !== undefined) return inputResponses;
  throw invalidParams('inputResponses is missing: an object of answers by key');
}

const actions: readonly unknown[] = ['accept', 'decline', 'cancel'];

/** Gives the agent the answer to the question that the task waits with. Other keys are answered or unknown: ignored. */
async function update(
  agent: AgentClient,
  task: Task,
  responses: Readonly<Record<string, unknown>>,
  closedQuestions: ClosedQuestions,
): Promise<void> {
  const { state } = task.status;
  const isQuestion = state === 'TASK_STATE_INPUT_REQUIRED';
  if (!isQuestion && state !== 'TASK_STATE_AUTH_REQUIRED') return;
  const found = Object.entries(responses).find(([key]) => closedQuestions.isKeyOf(task, key));
  if (!found) return;
  const [key, response] = found;
  const { action, content } = Object(response) as Readonly<Record<string, unknown>>;
  if (!actions.includes(action))
    throw invalidParams(
      `inputResponses: ${JSON.stringify(key)} has no action that is one of ${actions.join(', ')}`,
    );
  if (action === 'decline') return cancelTask(agent, task.id);
  if (action === 'cancel') return closedQuestions.close(task, key);
  // An authorization happens elsewhere: the agent goes on by itself.
  if (isQuestion) await sendAnswer(agent, task, key, content);
}

async function sendAnswer(agent: AgentClient, task: Task, key: string, content: unknown): Promise<void> {
  const { requestedSchema, toMessage } = questionOf(task);
  const values: Readonly<Record<string, unknown>> = isObject(content) ? content : {};
  // The agent checks its forms itself, and asks again with the faults.
  const missing = formOf(task) ? undefined : requestedSchema.required?.find((name) => !(name in values));
  if (missing !== undefined)
    throw invalidParams(
      `inputResponses: the content of ${JSON.stringify(key)} lacks ${JSON.stringify(missing)}`,
    );
  const asked = task.status.message?.messageId;
  await agent.send(toMessage(values), {
    task,
    extensions: extensionsOf(agent),
    returnImmediately: true,
    timeoutMs,
    // An answer that is sent twice is received once.
    ...(asked && { messageId: `answer-${asked}` }),
  });
}

/** Asks the agent to cancel. That is a wish: a task that has ended, or cannot be canceled, is no error. */
async function cancelTask(agent: AgentClient, id: string): Promise<void> {
  try {
    await agent.cancelTask({ id }, { timeoutMs });
  } catch (error) {
    if (!A2AError.is(error, 'TASK_NOT_CANCELABLE') && !A2AError.is(error, 'UNSUPPORTED_OPERATION'))
      throw error;
  }
}

/** An error as it is written. */
export const errorOf = ({ code, message, data }: ProtocolError) => ({
  code,
  message,
  ...(data !== undefined && { data }),
});

/**
 * The error of a request about a task. A task that does not exist and one of another caller are the same: -32602. An
 * agent that cannot be reached says nothing about its task: -32603, and the next read may find it.
 */
export function taskFailure(error: unknown, onError: OnError): ProtocolError {
  if (error instanceof ProtocolError) return error;
  if (A2AError.is(error, 'TASK_NOT_FOUND')) return invalidParams('Task not found');
  const isOfParams = A2AError.is(error, 'INVALID_PARAMS');
  const code = isOfParams ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError;
  return new ProtocolError(code, describeFailure(error, onError));
}
