import { inspect } from 'node:util';
import type { TaskPushNotificationConfig } from '@batonjs/protocol';
import type { TaskStore } from '@batonjs/store';
import { rpc, say } from '../../../../../test/kit/rpc.ts';
import { serve } from '../../../../../test/kit/serve.ts';
import {
  type AgentServer,
  type AgentServerOptions,
  completed,
  taskAgent,
  working,
} from '../../../src/index.ts';
import type { PushOptions } from '../../../src/webhooks/webhooks.ts';
import { chatty, quick } from './settings.ts';

/** Works until it is let go. */
export function gatedAgent() {
  const gate = Promise.withResolvers<void>();
  const agent = taskAgent(async function* () {
    yield working();
    await gate.promise;
    yield completed();
  });
  return { agent, letGo: gate.resolve };
}

export interface Served extends AgentServer {
  /** All that was logged, as text. */
  readonly logged: () => string;
}

/** A server until the test ends, with one webhook setting changed or another. */
export function servePushing(
  store: TaskStore,
  push: PushOptions = {},
  options: Partial<AgentServerOptions> = {},
) {
  const log: unknown[] = [];
  const server = serve(chatty, {
    store,
    push: { ...quick, ...push, retry: { ...quick.retry, ...push.retry } },
    logger: (...entry) => log.push(entry),
    ...options,
    timeouts: { leaseMs: 5_000, ...options.timeouts },
  });
  return Object.assign(server, {
    logged: () => inspect(log, { depth: 10, showHidden: true }),
  }) satisfies Served;
}

/** Sends a message with a webhook and resolves to the task. */
export async function send(
  server: AgentServer,
  config: Partial<TaskPushNotificationConfig>,
  more: object = {},
  content = 'go',
): Promise<{ id: string }> {
  const configuration = { taskPushNotificationConfig: config, ...more };
  return (await rpc(server, 'SendMessage', { message: say(content), configuration })).task;
}

/** A task that works until its agent is let go. */
export const begin = async (server: AgentServer): Promise<{ id: string }> =>
  (await rpc(server, 'SendMessage', { message: say('go'), configuration: { returnImmediately: true } })).task;

export const create = (server: AgentServer, config: Partial<TaskPushNotificationConfig>) =>
  rpc(server, 'CreateTaskPushNotificationConfig', config);
