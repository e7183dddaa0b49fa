import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { connect, textOf } from '@batonjs/client';
import { createAgentServer } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { answerWith, card } from '../src/agent.ts';
import { type Model, modelFrom } from '../src/model.ts';

/** Sends a message to an agent with this model, and resolves to the task. */
async function ask(model: Model, text: string) {
  const server = createAgentServer({ card, agent: answerWith(model), store: memoryStore() });
  const client = await connect('http://localhost', { fetch: server.fetch });
  const { task } = await client.stream(text).result();
  await server.close();
  return task;
}

test('the answer of the model is an artifact', async () => {
  const task = await ask(modelFrom({}), 'hello there');
  assert.equal(task?.status.state, 'TASK_STATE_COMPLETED');
  assert.equal(textOf(task.artifacts?.[0]), 'You said: hello there');
});

/** What the log gets, which would stand in red between the tests. */
const logged = ({ mock }: TestContext) => mock.method(console, 'error', () => {}).mock;

test('a model that fails halfway fails the task', async (context) => {
  const log = logged(context);
  const task = await ask(async function* () {
    yield 'half';
    throw new Error('out of tokens');
  }, 'hello');
  assert.equal(task?.status.state, 'TASK_STATE_FAILED');
  assert.deepEqual(log.calls[0]?.arguments, ['The model failed: out of tokens']);
});

/** Asks a model over the API that many have, which answers a prompt with these events. */
async function askOver(context: TestContext, answer: (prompt: string) => object[]) {
  const api = createServer(async (request, response) => {
    const { messages } = JSON.parse(Buffer.concat(await request.toArray()).toString());
    for (const event of answer(messages[0].content)) response.write(`data: ${JSON.stringify(event)}\n\n`);
    response.end('data: [DONE]\n\n');
  }).listen(0, '127.0.0.1');
  context.after(() => api.close());
  await new Promise((resolve) => api.once('listening', resolve));
  const { port } = api.address() as AddressInfo;
  return ask(modelFrom({ MODEL_URL: `http://127.0.0.1:${port}` }), 'hi');
}

const piece = (content: string, finish_reason: string | null = null) => ({
  choices: [{ delta: { content }, finish_reason }],
});

test('a model is called over the API that many have', async (context) => {
  const task = await askOver(context, (prompt) => [piece('Echo: ', ''), piece(prompt), piece('', 'stop')]);
  assert.equal(task?.status.state, 'TASK_STATE_COMPLETED');
  assert.equal(textOf(task.artifacts?.[0]), 'Echo: hi');
});

for (const [what, end] of Object.entries({
  'an error': { error: { message: 'overloaded' } },
  'the limit of tokens': piece(' is', 'length'),
  'a filter': piece('', 'content_filter'),
}))
  test(`half an answer that ends with ${what} fails the task`, async (context) => {
    const log = logged(context);
    const task = await askOver(context, () => [piece('The dose'), end]);
    assert.equal(task?.status.state, 'TASK_STATE_FAILED');
    assert.equal(log.callCount(), 1);
  });
