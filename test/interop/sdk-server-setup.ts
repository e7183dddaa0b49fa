import type { AddressInfo } from 'node:net';
import {
  AGENT_CARD_PATH,
  AgentCard,
  Message,
  Task,
  TaskArtifactUpdateEvent,
  TaskStatusUpdateEvent,
} from '@a2a-js/sdk';
import {
  AgentEvent,
  type AgentExecutor,
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryTaskStore,
  type RequestContext,
} from '@a2a-js/sdk/server';
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from '@a2a-js/sdk/server/express';
import express from 'express';

/** The official SDK's server on a real port. */
export interface TheirServer {
  readonly url: string;
  /** Lets what is held go on. */
  release(): void;
  close(): Promise<void>;
}

/** Does what the text says: `talk`, `ask`, `hold` (until canceled or released), `fail`, `throw`; works otherwise. */
class Versatile implements AgentExecutor {
  readonly #held: Promise<void>;
  readonly #canceled = new Map<string, () => void>();

  constructor(held: Promise<void>) {
    this.#held = held;
  }

  async execute(context: RequestContext, bus: ExecutionEventBus): Promise<void> {
    const { taskId, contextId, userMessage, task } = context;
    const ids = { taskId, contextId };
    const text = userMessage.parts
      .map(({ content }) => (content?.$case === 'text' ? content.value : ''))
      .join('');
    const says = (words: string) => ({
      messageId: crypto.randomUUID(),
      role: 'ROLE_AGENT',
      parts: [{ text: words }],
    });
    const status = (state: string, words?: string) =>
      bus.publish(
        AgentEvent.statusUpdate(
          TaskStatusUpdateEvent.fromJSON({
            ...ids,
            status: {
              state: `TASK_STATE_${state}`,
              timestamp: new Date().toISOString(),
              ...(words && { message: { ...says(words), ...ids } }),
            },
          }),
        ),
      );
    const chunk = (words: string, append: boolean) =>
      bus.publish(
        AgentEvent.artifactUpdate(
          TaskArtifactUpdateEvent.fromJSON({
            ...ids,
            append,
            lastChunk: append,
            artifact: { artifactId: 'quote', name: 'quote', parts: [{ text: words }] },
          }),
        ),
      );
    if (text === 'throw') throw new Error('secret of the executor');
    if (text === 'talk') {
      bus.publish(AgentEvent.message(Message.fromJSON({ ...says('Nice to meet you'), contextId })));
      return bus.finished();
    }
    // [SDK] A stream must start with the task, and it is for the executor to say so, in follow-ups too.
    const submitted = { id: taskId, contextId, status: { state: 'TASK_STATE_SUBMITTED' } };
    bus.publish(
      AgentEvent.task(task ?? Task.fromJSON({ ...submitted, history: [Message.toJSON(userMessage)] })),
    );
    if (text === 'ask') status('INPUT_REQUIRED', 'Which currency?');
    else if (text === 'fail') status('FAILED', 'It did not work');
    else {
      status('WORKING', 'On it');
      chunk('10 USD', false);
      if (text === 'hold')
        await Promise.race([this.#held, new Promise<void>((resolve) => this.#canceled.set(taskId, resolve))]);
      chunk(' is 833 INR', true);
      status('COMPLETED', 'Done');
    }
    bus.finished();
  }

  async cancelTask(taskId: string, bus: ExecutionEventBus): Promise<void> {
    const status = { state: 'TASK_STATE_CANCELED', timestamp: new Date().toISOString() };
    bus.publish(AgentEvent.statusUpdate(TaskStatusUpdateEvent.fromJSON({ taskId, contextId: '', status })));
    bus.finished();
    this.#canceled.get(taskId)?.();
  }
}

/** The official SDK's server with both bindings; `capabilities` is what its card says. */
export async function serveTheirs(capabilities: object = {}): Promise<TheirServer> {
  const held = Promise.withResolvers<void>();
  const app = express();
  const http = await new Promise<ReturnType<typeof app.listen>>((resolve) => {
    const listening = app.listen(0, '127.0.0.1', () => resolve(listening));
  });
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const card = AgentCard.fromJSON({
    name: 'Versatile',
    description: 'For peers',
    version: '1.0.0',
    supportedInterfaces: [
      { url: `${url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      { url: `${url}/rest`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
    ],
    capabilities: { streaming: true, ...capabilities },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [],
  });
  const requestHandler = new DefaultRequestHandler(
    card,
    new InMemoryTaskStore(),
    new Versatile(held.promise),
    undefined,
    undefined,
    undefined,
    undefined,
    undefined,
    // [SDK] Off unless asked for: parts of any media type reach the executor.
    { validateInputModes: true },
  );
  const options = { requestHandler, userBuilder: UserBuilder.noAuthentication };
  app.use(`/${AGENT_CARD_PATH}`, agentCardHandler({ agentCardProvider: requestHandler }));
  app.use('/rpc', jsonRpcHandler(options));
  app.use('/rest', restHandler(options));
  return {
    url,
    release: held.resolve,
    async close() {
      held.resolve();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}
