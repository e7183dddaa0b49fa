import type { AddressInfo } from 'node:net';
import { AGENT_CARD_PATH, AgentCard, Message, Task } from '@a2a-js/sdk';
import { AgentEvent, DefaultRequestHandler, InMemoryTaskStore } from '@a2a-js/sdk/server';
import { agentCardHandler, jsonRpcHandler, UserBuilder } from '@a2a-js/sdk/server/express';
import { USAGE } from '@batonjs/extensions/client';
import express from 'express';
import type { Bill, Billed } from './provider.ts';

/** A server of the official SDK, as another organisation has it: its agent calls the model once, and reports what that cost. */
export async function startForeign(provider: string) {
  const app = express();
  const http = await new Promise<ReturnType<typeof app.listen>>((resolve) => {
    const listening = app.listen(0, '127.0.0.1', () => resolve(listening));
  });
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const card = AgentCard.fromJSON({
    name: 'foreign',
    description: 'Calls a model',
    version: '1.0.0',
    supportedInterfaces: [{ url: `${url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    capabilities: { streaming: true, extensions: [{ uri: USAGE }] },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [],
  });
  const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), {
    async execute({ taskId, contextId, userMessage }, bus) {
      const [{ content } = {}] = userMessage.parts;
      const root = content?.$case === 'text' ? content.value : '';
      const asked: Billed = { root, agent: 'foreign', taskId, pid: 0 };
      const reply = await fetch(provider, { method: 'POST', body: JSON.stringify(asked) });
      const { tokens, millionths, currency } = (await reply.json()) as Bill;
      // [SDK] Only the task has metadata, and a stream has one task.
      const metadata = { [USAGE]: { tokens, costs: { [currency]: millionths } } };
      const status = { state: 'TASK_STATE_COMPLETED', timestamp: new Date().toISOString() };
      const history = [Message.toJSON(userMessage)];
      bus.publish(AgentEvent.task(Task.fromJSON({ id: taskId, contextId, metadata, history, status })));
      bus.finished();
    },
    async cancelTask() {},
  });
  const handling = { requestHandler, userBuilder: UserBuilder.noAuthentication };
  app.use(`/${AGENT_CARD_PATH}`, agentCardHandler({ agentCardProvider: requestHandler }));
  app.use('/rpc', jsonRpcHandler(handling));
  return { url, close: () => http.close().closeAllConnections() };
}
