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

/** The official SDK's server on a real port, until the test ends. */
export interface OfficialServer {
  readonly url: string;
  /** Lets turns on `hold` go on. */
  release(): void;
  /** Closes all connections; the server goes on. */
  drop(): void;
}

export interface OfficialOptions {
  /** The protocol version of its interfaces. Default `1.0`; `0.3` adds the SDK's layer for it, and webhooks. */
  readonly version?: '1.0' | '0.3';
  /** Capabilities on its card besides streaming. */
  readonly capabilities?: object;
  /** The parts of each chunk of its artifact. Default: a quote in two chunks. */
  readonly chunks?: readonly (readonly object[])[];
  /** Runs in place of the agent that is described below. */
  readonly executor?: AgentExecutor;
}

const quote = [[{ text: '10 USD' }], [{ text: ' is 833 INR' }]];

/**
 * Starts the official SDK's server with both bindings. Its agent does what the text says: `talk`, `ask`, `hold` (before
 * the last chunk, until canceled or released), `fail`, `throw`; any other text completes with an artifact.
 */
export async function serveOfficial(options: OfficialOptions = {}): Promise<OfficialServer> {
  const { version = '1.0', capabilities, chunks = quote, executor } = options;
  const isLegacy = version === '0.3';
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
      { url: `${url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: version },
      { url: `${url}/rest`, protocolBinding: 'HTTP+JSON', protocolVersion: version },
    ],
    capabilities: { streaming: true, ...(isLegacy && { pushNotifications: true }), ...capabilities },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [],
  });
  const webhooks = isLegacy ? new InMemoryPushNotificationStore() : undefined;
  const requestHandler = new DefaultRequestHandler(
    card,
    new InMemoryTaskStore(),
    executor ?? new Versatile(held.promise, chunks),
    undefined,
    webhooks,
    webhooks && createLegacyAwarePushNotificationSender(webhooks),
    undefined,
    undefined,
    // [SDK] Off unless asked for: parts of any media type reach the executor.
    { validateInputModes: !isLegacy },
  );
  const legacyCompat = isLegacy ? { enabled: true } : undefined;
  const handling = { requestHandler, userBuilder: UserBuilder.noAuthentication, legacyCompat };
  app.use(`/${AGENT_CARD_PATH}`, agentCardHandler({ agentCardProvider: requestHandler, legacyCompat }));
  app.use('/rpc', jsonRpcHandler(handling));
  app.use('/rest', restHandler(handling));
  return { url, release: held.resolve, drop: () => http.closeAllConnections() };
}

class Versatile implements AgentExecutor {
  readonly #held: Promise<void>;
  readonly #chunks: NonNullable<OfficialOptions['chunks']>;
  readonly #canceled = new Map<string, () => void>();

  constructor(held: Promise<void>, chunks: NonNullable<OfficialOptions['chunks']>) {
    this.#held = held;
    this.#chunks = chunks;
  }

  async execute(context: RequestContext, bus: ExecutionEventBus): Promise<void> {
    const { taskId, contextId, userMessage, task } = context;
    const ids = { taskId, contextId };
    const text = userMessage.parts
      .map(({ content }) => (content?.$case === 'text' ? content.value : ''))
      .join('');
    if (text === 'throw') throw new Error('secret of the executor');
    if (text === 'talk') {
      bus.publish(AgentEvent.message(Message.fromJSON(saying('Nice to meet you', { contextId }))));
      return bus.finished();
    }
    // [SDK] A stream must start with the task, and it is for the executor to say so, in follow-ups too.
    const submitted = { id: taskId, contextId, status: { state: 'TASK_STATE_SUBMITTED' } };
    bus.publish(
      AgentEvent.task(task ?? Task.fromJSON({ ...submitted, history: [Message.toJSON(userMessage)] })),
    );
    if (text === 'ask') publishStatus(bus, ids, 'INPUT_REQUIRED', 'Which currency?');
    else if (text === 'fail') publishStatus(bus, ids, 'FAILED', 'It did not work');
    else {
      publishStatus(bus, ids, 'WORKING', 'On it');
      for (const [n, parts] of this.#chunks.entries()) {
        const isLast = n === this.#chunks.length - 1;
        if (text === 'hold' && isLast) await this.#released(taskId);
        const artifact = { artifactId: 'quote', name: 'quote', parts };
        const update = { ...ids, append: n > 0, lastChunk: n > 0 && isLast, artifact };
        bus.publish(AgentEvent.artifactUpdate(TaskArtifactUpdateEvent.fromJSON(update)));
      }
      publishStatus(bus, ids, 'COMPLETED', 'Done');
    }
    bus.finished();
  }

  async cancelTask(taskId: string, bus: ExecutionEventBus): Promise<void> {
    publishStatus(bus, { taskId, contextId: '' }, 'CANCELED');
    bus.finished();
    this.#canceled.get(taskId)?.();
  }

  #released(taskId: string): Promise<void> {
    return Promise.race([this.#held, new Promise<void>((resolve) => this.#canceled.set(taskId, resolve))]);
  }
}

const saying = (words: string, ids: object) => ({
  messageId: crypto.randomUUID(),
  role: 'ROLE_AGENT',
  parts: [{ text: words }],
  ...ids,
});

function publishStatus(bus: ExecutionEventBus, ids: object, state: string, words?: string): void {
  const message = words === undefined ? undefined : saying(words, ids);
  const status = { state: `TASK_STATE_${state}`, timestamp: new Date().toISOString(), message };
  bus.publish(AgentEvent.statusUpdate(TaskStatusUpdateEvent.fromJSON({ ...ids, status })));
}
