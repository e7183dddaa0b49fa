import { A2AError, type AgentClient, isTerminal } from '@batonjs/client';
import type { Task } from '@batonjs/protocol';
import type { ClientCapabilities } from '@modelcontextprotocol/server';
import { SUBSCRIPTION_ID_META_KEY } from '@modelcontextprotocol/server';
import { extensionsOf } from '../translation/extensions-of.ts';
import { detailedTask } from './detailed-task.ts';
import { readHandle } from './handle.ts';
import { readTask, type TaskRequests } from './task-requests.ts';

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
