import type { AddressInfo } from 'node:net';
import {
  AGENT_CARD_PATH,
  AgentCard,
  Message,
  Task,
  TaskArtifactUpdateEvent,
  TaskStatusUpdateEvent,
} from '@a2a-js/sdk';
import { createLegacyAwarePushNotificationSender } from '@a2a-js/sdk/compat/v0_3/server';
import {
  AgentEvent,
  type AgentExecutor,
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryPushNotificationStore,
  InMemoryTaskStore,
  type RequestContext,
} from '@a2a-js/sdk/server';
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from '@a2a-js/sdk/server/express';
import express from 'express';
import { onTestFinished } from 'vitest';

/** Does what the text says: `talk`, `ask`, `hold` until it is let go; works otherwise. */
class Versatile implements AgentExecutor {
  readonly #held: Promise<void>;

  constructor(held: Promise<void>) {
    this.#held = held;
  }

  async execute(
    { taskId, contextId, userMessage, task }: RequestContext,
    bus: ExecutionEventBus,
  ): Promise<void> {
    const ids = { taskId, contextId };
    const [first] = userMessage.parts;
    const text = first?.content?.$case === 'text' ? first.content.value : '';
    const says = (words: string) => ({
      messageId: crypto.randomUUID(),
      role: 'ROLE_AGENT',
      parts: [{ text: words }],
      ...ids,
    });
    const status = (state: string, words?: string) => {
      const message = words === undefined ? undefined : says(words);
      const update = {
        ...ids,
        status: { state: `TASK_STATE_${state}`, timestamp: new Date().toISOString(), message },
      };
      bus.publish(AgentEvent.statusUpdate(TaskStatusUpdateEvent.fromJSON(update)));
    };
    if (text === 'talk') {
      bus.publish(AgentEvent.message(Message.fromJSON(says('Nice to meet you'))));
      return bus.finished();
    }
    const submitted = {
      id: taskId,
      contextId,
      status: { state: 'TASK_STATE_SUBMITTED' },
      history: [Message.toJSON(userMessage)],
    };
    bus.publish(AgentEvent.task(task ?? Task.fromJSON(submitted)));
    if (text === 'ask') status('INPUT_REQUIRED', 'Which currency?');
    else {
      status('WORKING', 'On it');
      if (text === 'hold') await this.#held;
      const artifact = {
        artifactId: 'quote',
        name: 'quote',
        parts: [{ text: '833 INR' }, { data: { rate: 83.3 } }],
      };
      bus.publish(AgentEvent.artifactUpdate(TaskArtifactUpdateEvent.fromJSON({ ...ids, artifact })));
      status('COMPLETED', 'Done');
    }
    bus.finished();
  }

  async cancelTask(taskId: string, bus: ExecutionEventBus): Promise<void> {
    const status = { state: 'TASK_STATE_CANCELED', timestamp: new Date().toISOString() };
    bus.publish(AgentEvent.statusUpdate(TaskStatusUpdateEvent.fromJSON({ taskId, contextId: '', status })));
    bus.finished();
  }
}

/** The official SDK's server with its layer for 0.3, on a real port until the test ends. */
export async function serveOfficial() {
  const held = Promise.withResolvers<void>();
  const app = express();
  const http = await new Promise<ReturnType<typeof app.listen>>((resolve) => {
    const listening = app.listen(0, '127.0.0.1', () => resolve(listening));
  });
  onTestFinished(() => {
    held.resolve();
    http.close();
    http.closeAllConnections();
  });
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const card = AgentCard.fromJSON({
    name: 'Versatile',
    description: 'For peers',
    version: '1.0.0',
    supportedInterfaces: [
      { url: `${url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
      { url: `${url}/rest`, protocolBinding: 'HTTP+JSON', protocolVersion: '0.3' },
    ],
    capabilities: { streaming: true, pushNotifications: true },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [],
  });
  const webhooks = new InMemoryPushNotificationStore();
  const sender = createLegacyAwarePushNotificationSender(webhooks);
  const requestHandler = new DefaultRequestHandler(
    card,
    new InMemoryTaskStore(),
    new Versatile(held.promise),
    undefined,
    webhooks,
    sender,
  );
  const legacyCompat = { enabled: true };
  const options = { requestHandler, userBuilder: UserBuilder.noAuthentication, legacyCompat };
  app.use(`/${AGENT_CARD_PATH}`, agentCardHandler({ agentCardProvider: requestHandler, legacyCompat }));
  app.use('/rpc', jsonRpcHandler(options));
  app.use('/rest', restHandler(options));
  return { url, letGo: held.resolve, drop: () => http.closeAllConnections() };
}
