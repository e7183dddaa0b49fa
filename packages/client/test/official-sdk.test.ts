import type { AddressInfo } from 'node:net';
import {
  AGENT_CARD_PATH,
  AgentCard,
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
import { connect, conversation, textOf } from '@batonjs/client';
import express from 'express';
import { afterEach, describe, expect, it } from 'vitest';
import { cardOf, collect, failureOf } from './serve.ts';

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** Asks for a currency until it has one; `slow` waits until the gate opens. */
class Convert implements AgentExecutor {
  readonly #opened: Promise<void>;
  constructor(opened: Promise<void>) {
    this.#opened = opened;
  }

  async execute({ taskId, contextId, userMessage, task }: RequestContext, bus: ExecutionEventBus) {
    const ids = { taskId, contextId };
    const text = userMessage.parts
      .map(({ content }) => (content?.$case === 'text' ? content.value : ''))
      .join('');
    const status = (state: string, said?: string) => {
      const message = said && {
        messageId: `${taskId}-${state}`,
        role: 'ROLE_AGENT',
        parts: [{ text: said }],
        ...ids,
      };
      const update = {
        ...ids,
        status: { state: `TASK_STATE_${state}`, timestamp: new Date().toISOString(), message },
      };
      bus.publish(AgentEvent.statusUpdate(TaskStatusUpdateEvent.fromJSON(update)));
    };
    const chunk = (words: string, append: boolean) =>
      bus.publish(
        AgentEvent.artifactUpdate(
          TaskArtifactUpdateEvent.fromJSON({
            ...ids,
            append,
            artifact: { artifactId: 'a-1', name: 'quote', parts: [{ text: words }] },
          }),
        ),
      );
    const known =
      task ??
      Task.fromJSON({ id: taskId, contextId, status: { state: 'TASK_STATE_SUBMITTED' }, history: [] });
    if (!task) known.history.push(userMessage);
    bus.publish(AgentEvent.task(known));
    if (text === 'ask') status('INPUT_REQUIRED', 'Which currency?');
    else {
      status('WORKING', 'Looking');
      chunk('10 USD', false);
      if (text === 'slow') await this.#opened;
      chunk(' is 833 INR', true);
      status('COMPLETED');
    }
    bus.finished();
  }

  async cancelTask(taskId: string, bus: ExecutionEventBus) {
    bus.publish(
      AgentEvent.statusUpdate(
        TaskStatusUpdateEvent.fromJSON({ taskId, contextId: '', status: { state: 'TASK_STATE_CANCELED' } }),
      ),
    );
    bus.finished();
  }
}

/** The official SDK's server with both bindings, whose streams break whenever `drop` is called. */
async function serveOfficial() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const app = express();
  const server = await new Promise<ReturnType<typeof app.listen>>((resolve) => {
    const listening = app.listen(0, '127.0.0.1', () => resolve(listening));
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const interfaces = [
    { url: `${url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
    { url: `${url}/rest`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
  ];
  const card = AgentCard.fromJSON(cardOf(interfaces, { capabilities: { streaming: true } }));
  const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), new Convert(opened));
  const options = { requestHandler, userBuilder: UserBuilder.noAuthentication };
  app.use(`/${AGENT_CARD_PATH}`, agentCardHandler({ agentCardProvider: requestHandler }));
  app.use('/rpc', jsonRpcHandler(options));
  app.use('/rest', restHandler(options));
  const drop = () => server.closeAllConnections();
  closers.push(() => {
    open();
    drop();
    server.close();
  });
  return { url, open, drop };
}

describe.each(['JSONRPC', 'HTTP+JSON'])('the official SDK as a peer on %s', (binding) => {
  const options = { binding, retry: { firstMs: 1, longestMs: 20 } };

  it('is sent to, asked for tasks, and makes the same errors', async () => {
    const agent = await connect((await serveOfficial()).url, options);
    const { task } = await agent.send('10 USD in INR');
    expect(task?.status.state).toBe('TASK_STATE_COMPLETED');
    expect(textOf(task?.artifacts?.[0])).toBe('10 USD is 833 INR');
    expect((await agent.getTask({ id: task!.id })).id).toBe(task?.id);
    expect((await agent.listTasks({ contextId: task!.contextId })).tasks.map(({ id }) => id)).toEqual([
      task?.id,
    ]);
    expect((await failureOf(agent.getTask({ id: 'missing' }))).reason).toBe('TASK_NOT_FOUND');
    expect((await failureOf(agent.task(task!).cancel())).reason).toBe('TASK_NOT_CANCELABLE');
    expect((await failureOf(agent.send('more', { task: task! }))).reason).toBe('UNSUPPORTED_OPERATION');
    expect((await failureOf(collect(agent.subscribeToTask({ id: task!.id })))).reason).toBe(
      'UNSUPPORTED_OPERATION',
    );
  });

  it('asks and is answered, by the same call and by a stream', async () => {
    const agent = await connect((await serveOfficial()).url, options);
    const { task } = await agent.stream('ask').result();
    expect(task?.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(conversation(task!).map((message) => textOf(message))).toEqual(['ask', 'Which currency?']);
    const answered = await agent.stream('INR', { task: task! }).result();
    expect([answered.task?.id, answered.task?.status.state]).toEqual([task?.id, 'TASK_STATE_COMPLETED']);
  });

  it('is followed through a broken connection, without positions', async () => {
    const { url, open, drop } = await serveOfficial();
    const agent = await connect(url, options);
    const stream = agent.stream('slow');
    let broken = false;
    for await (const { artifactUpdate, task } of stream) {
      if (artifactUpdate && !broken) {
        broken = true;
        drop();
      } else if (broken && task) open();
    }
    expect(stream.task?.status.state).toBe('TASK_STATE_COMPLETED');
    expect(textOf(stream.task?.artifacts?.[0])).toBe('10 USD is 833 INR');
  });

  it('cancels', async () => {
    const agent = await connect((await serveOfficial()).url, options);
    const { task } = await agent.send('slow', { returnImmediately: true });
    expect((await agent.task(task!).cancel()).status.state).toBe('TASK_STATE_CANCELED');
  });
});
