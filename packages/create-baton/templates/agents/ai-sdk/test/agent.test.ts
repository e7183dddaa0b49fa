import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { answer, connect, textOf } from '@batonjs/client';
import { createAgentServer } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { convertArrayToReadableStream, MockLanguageModelV4 } from 'ai/test';
import { answerWith, card } from '../src/agent.ts';

type Stream = Awaited<ReturnType<MockLanguageModelV4['doStream']>>['stream'];
type Part = Stream extends ReadableStream<infer Each> ? Each : never;

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

const say = (text: string): Part[] => [
  { type: 'text-start', id: 'text' },
  { type: 'text-delta', id: 'text', delta: text },
  { type: 'text-end', id: 'text' },
  { type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage },
];

const call = (toolName: string, input: object): Part[] => [
  { type: 'tool-call', toolCallId: toolName, toolName, input: JSON.stringify(input) },
  { type: 'finish', finishReason: { unified: 'tool-calls', raw: 'tool_calls' }, usage },
];

/** A client of the agent on a model that gives these answers, one for each call. */
async function clientOn(context: TestContext, ...answers: Part[][]) {
  const model = new MockLanguageModelV4({
    doStream: async () => ({ stream: convertArrayToReadableStream(answers.shift() ?? []) }),
  });
  const server = createAgentServer({
    card,
    agent: answerWith(model),
    store: memoryStore(),
    logger: () => {},
  });
  context.after(() => server.close());
  return { client: await connect('http://localhost', { fetch: server.fetch }), model };
}

test('the model calls a tool, and its answer is an artifact', async (context) => {
  const { client, model } = await clientOn(context, call('find', { order: '7' }), say('It is packed'));
  const { task } = await client.send('Where is order 7?');
  assert.equal(task?.status.state, 'TASK_STATE_COMPLETED');
  assert.equal(textOf(task.artifacts?.[0]), 'It is packed');
  // The second call of the model has the result of the tool.
  assert.match(JSON.stringify(model.doStreamCalls[1]?.prompt), /packed/);
});

test('an order is canceled only if the user approves', async (context) => {
  const { client, model } = await clientOn(context, call('cancel', { order: '7' }), say('Done'));
  const { task: asking } = await client.send('Cancel order 7');
  assert.equal(asking?.status.state, 'TASK_STATE_INPUT_REQUIRED');
  assert.equal(model.doStreamCalls.length, 1);
  const { task } = await client.send(answer(asking, 'yes'));
  assert.equal(task?.status.state, 'TASK_STATE_COMPLETED');
  assert.match(JSON.stringify(model.doStreamCalls[1]?.prompt), /canceled/);
});
