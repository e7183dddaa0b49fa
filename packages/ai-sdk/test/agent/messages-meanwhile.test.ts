import { type AgentClient, connect } from '@batonjs/client';
import type { Agent, AgentServer } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { streamText, type ToolSet, tool } from 'ai';
import type { MockLanguageModelV4 } from 'ai/test';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { serve } from '../../../../test/kit/serve.ts';
import { until } from '../../../../test/kit/until.ts';
import { streamedAgent } from '../../src/index.ts';
import { call, linesOf, scriptedModel, text } from '../scripted-model.ts';

/** An agent whose tool `book` needs a yes. */
const agentOn = (model: MockLanguageModelV4, tools: ToolSet): Agent =>
  streamedAgent((turn) =>
    streamText({
      model: turn.model(model),
      messages: turn.messages,
      abortSignal: turn.signal,
      tools: turn.tools(tools),
      toolApproval: ({ toolCall }) => (toolCall.toolName === 'book' ? 'user-approval' : undefined),
      stopWhen: ({ steps }) => steps.length === 5,
      maxRetries: 0,
      onError() {},
    }),
  ) as Agent;

const clientOf = (server: AgentServer): Promise<AgentClient> =>
  connect('http://localhost', { fetch: (request) => server.fetch(request) });

/** A tool that waits in its first run, and notes its runs. */
function waitingTool() {
  const began = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const runs: string[] = [];
  const book = tool({
    inputSchema: z.object({}),
    execute: async (_, { toolCallId, abortSignal }) => {
      runs.push(toolCallId);
      abortSignal?.addEventListener('abort', () => goOn.reject(abortSignal.reason));
      began.resolve();
      if (runs.length === 1) await goOn.promise;
      return 'Booked';
    },
  });
  goOn.promise.catch(() => {});
  return { book, runs, began: began.promise, goOn: () => goOn.resolve() };
}

describe('a message that comes while the tool of an approved call runs', () => {
  it('is no part of the answer when the turn runs again: the tool is not denied after it has begun', async () => {
    const { book, runs, began } = waitingTool();
    const model = scriptedModel([call('call-1', 'book')], text('Done'));
    const store = memoryStore();
    const start = () => serve(agentOn(model, { book }), { store, restart: 'rerun' });
    const first = start();
    const client = await clientOf(first);
    const { task } = await client.send('Book a flight');
    await client.send('yes', { task: task!, returnImmediately: true });
    await began;
    await client.send('also a taxi', { task: task!, returnImmediately: true });
    await first.close({ graceMs: 0 });
    await until(start(), task!.id, 'COMPLETED');
    expect(runs).toEqual(['call-1', 'call-1']);
    expect(linesOf(model, 2)).toEqual(['user: Book a flight', 'assistant: call-1', 'tool: call-1 Booked']);
  });

  it.each(['also a taxi', 'yes'])(
    '"%s" is read by the model, and answers no later question',
    async (more) => {
      const { book, runs, began, goOn } = waitingTool();
      const model = scriptedModel([call('call-1', 'book')], [call('call-2', 'book')], text('Done'));
      const server = serve(agentOn(model, { book }));
      const client = await clientOf(server);
      const { task } = await client.send('Book a flight');
      await client.send('yes', { task: task!, returnImmediately: true });
      await began;
      await client.send(more, { task: task!, returnImmediately: true });
      goOn();
      await until(server, task!.id, 'COMPLETED');
      expect(runs).toEqual(['call-1']);
      expect(linesOf(model, 3)).toEqual([
        'user: Book a flight',
        'assistant: call-1',
        'tool: call-1 Booked',
        `user: ${more}`,
        'assistant: call-2',
        'tool: call-2 The user has not answered yet',
      ]);
    },
  );
});

it('a message that comes while the model asks is read by the model before the answer', async () => {
  const asking = Promise.withResolvers<void>();
  const sent = Promise.withResolvers<void>();
  const model = scriptedModel([call('call-1', 'ask')], text('Done'));
  const { doStream } = model;
  model.doStream = async (options) => {
    asking.resolve();
    await sent.promise;
    return doStream(options);
  };
  const ask = tool({ inputSchema: z.object({}), outputSchema: z.string() });
  const server = serve(agentOn(model, { ask }));
  const client = await clientOf(server);
  const { task } = await client.send('Book a flight', { returnImmediately: true });
  await asking.promise;
  await client.send('By night', { task: task!, returnImmediately: true });
  sent.resolve();
  await until(server, task!.id, 'COMPLETED');
  expect(linesOf(model, 2)).toEqual([
    'user: Book a flight',
    'user: By night',
    'assistant: call-1',
    'tool: call-1 The user has not answered yet',
  ]);
});
