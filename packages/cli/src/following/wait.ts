import { setTimeout as sleep } from 'node:timers/promises';
import {
  A2AError,
  type AgentClient,
  type AgentEvent,
  type AgentReply,
  ClientError,
  isInterrupted,
  isTerminal,
  type SendOptions,
} from '@batonjs/client';
import type { Part, Task } from '@batonjs/protocol';

/** How long a stream may be broken before polling replaces it, in milliseconds. */
const streamBrokenMs = 5_000;

export interface Wait {
  /** Milliseconds between two reads; they grow up to fivefold. */
  readonly pollMs: number;
  readonly signal: AbortSignal;
  /** How long an agent may be out of reach before a wait by reading gives up, in milliseconds. Default 60,000. */
  readonly unreachableMs?: number;
  /** Sees each event with the task after it, if there is one. */
  readonly onEvent: (event: AgentEvent, task: Task | undefined) => void;
}

/** Whether a wait ends: the task ended, or waits for an answer. An unspecified state is neither. */
export const isSettled = (task: Task): boolean => isTerminal(task) || isInterrupted(task);

/**
 * Sends a message and follows its task until it settles: by streaming where the agent can, else by polling. A stream
 * that fails is replaced by polling. Every attempt has the same message id.
 */
export async function sendAndWait(
  agent: AgentClient,
  parts: readonly Part[],
  options: SendOptions & { readonly messageId: string },
  wait: Wait,
): Promise<AgentReply> {
  const { pollMs, signal, onEvent } = wait;
  const stream = agent.stream(parts, { ...options, pollMs, signal, followForMs: streamBrokenMs });
  try {
    for await (const event of stream) {
      onEvent(event, stream.task);
      if (event.message) return { message: event.message };
      const { statusUpdate, task } = event;
      const state = statusUpdate?.status.state ?? (options.task ? undefined : task?.status.state);
      if (state === 'TASK_STATE_AUTH_REQUIRED') break;
    }
    if (stream.task) return { task: stream.task };
    throw new A2AError('INVALID_AGENT_RESPONSE');
  } catch (error) {
    if (signal.aborted) throw error;
    const { task } = stream;
    if (task && ClientError.is(error, 'NETWORK')) return { task: await poll(agent, task.id, wait, task) };
    if (task || !isRefusal(error)) throw error;
  }
  const reply = await agent.send(parts, { ...options, returnImmediately: true, signal });
  onEvent(reply, reply.task);
  if (!reply.task || isSettled(reply.task)) return reply;
  return { task: await poll(agent, reply.task.id, wait, reply.task) };
}

/** Follows an existing task until it settles. A stream that fails is replaced by polling. */
export async function subscribeAndWait(agent: AgentClient, id: string, wait: Wait): Promise<Task> {
  const { pollMs, signal, onEvent } = wait;
  const stream = agent.follow(id, { pollMs, signal, followForMs: streamBrokenMs });
  try {
    for await (const event of stream) {
      onEvent(event, stream.task);
      if (stream.task && isSettled(stream.task)) break;
    }
    if (stream.task) return stream.task;
    throw new A2AError('INVALID_AGENT_RESPONSE');
  } catch (error) {
    if (signal.aborted || !ClientError.is(error, 'NETWORK') || !stream.task) throw error;
    return poll(agent, id, wait, stream.task);
  }
}

/** Reads a task until it settles, with growing pauses. `before`: what was seen of it already. */
export async function poll(
  agent: AgentClient,
  id: string,
  wait: Wait,
  before?: Task,
  historyLength?: number,
) {
  const { pollMs, signal, unreachableMs = 60_000, onEvent } = wait;
  let seen = JSON.stringify(before);
  let contactAt = performance.now();
  for (let pause = pollMs; ; pause = Math.min(pause * 1.5, pollMs * 5)) {
    try {
      const task = await agent.getTask({ id, historyLength }, { signal });
      contactAt = performance.now();
      const now = JSON.stringify(task);
      if (now !== seen) onEvent({ task }, task);
      seen = now;
      if (isSettled(task)) return task;
    } catch (error) {
      const isOver = seen === undefined || performance.now() - contactAt > unreachableMs;
      if (isOver || !ClientError.is(error, 'NETWORK')) throw error;
    }
    await sleep(pause, undefined, { signal });
  }
}

/** Whether the agent does not stream although its card says so. It has not taken the message then. */
const isRefusal = (error: unknown): boolean =>
  A2AError.is(error, 'UNSUPPORTED_OPERATION') ||
  A2AError.is(error, 'METHOD_NOT_FOUND') ||
  A2AError.is(error, 'METHOD_NOT_ALLOWED');
