import { statusMessageIsLast } from '@batonjs/client';
import { describe, expect, it } from 'vitest';
import { v03Client } from '../src/index.ts';
import { exchanger, painter, printed } from './agents.ts';
import { ask, post, serve } from './serve.ts';

// The requests that three documents print, sent exactly as they stand there. The first prints `message.send` and parts
// without `kind`; the third forgets a comma; none of them says which version it speaks.

const json = (path: string) => JSON.parse(printed(path));
const forgotten = printed('life-of-a-task/1-request');
const mended = forgotten.replace(']\n      "messageId"', '],\n      "messageId"');
const canonical = {
  boat: json('life-of-a-task/2-answer').result,
  redBoat: json('life-of-a-task/4-answer').result,
};

/** The answer that the documents print, with ids that a server makes. */
const answer = (printedTask: typeof canonical.boat) => ({
  ...printedTask,
  id: expect.any(String),
  contextId: expect.any(String),
  status: { ...printedTask.status, timestamp: expect.any(String) },
  artifacts: [{ ...printedTask.artifacts[0], artifactId: expect.any(String) }],
  history: [expect.objectContaining({ kind: 'message', role: 'user' })],
});

const documents = [
  { name: 'the English one', first: mended, second: printed('life-of-a-task/3-request') },
  {
    name: 'the Chinese one',
    first: printed('life-of-a-task-zh/1-request'),
    second: printed('life-of-a-task-zh/3-request'),
  },
];

describe.each(documents)('the conversation about a sailboat, $name', ({ first, second }) => {
  const start = () => serve({ agent: painter }, { lenient: true });

  it('gets the image, as a completed task in the one spelling', async () => {
    const reply = await post(start(), first);
    expect(reply.status).toBe(200);
    expect(await reply.json()).toEqual({
      jsonrpc: '2.0',
      id: 'req-001',
      result: answer(canonical.boat),
    });
  });

  it('gets a red one when it names the task and the context that it got', async () => {
    const server = start();
    const { result: boat } = await (await post(server, first)).json();
    const request = second
      .replace('ctx-conversation-abc', boat.contextId)
      .replace('task-boat-gen-123', boat.id);
    const { id, result } = await (await post(server, request)).json();
    expect([id, result]).toEqual(['req-002', answer(canonical.redBoat)]);
    expect(result.contextId).toBe(boat.contextId);
    expect(result.id).not.toBe(boat.id);
    expect(result.artifacts[0].name).toBe(boat.artifacts[0].name);
    expect(result.artifacts[0].artifactId).not.toBe(boat.artifacts[0].artifactId);
  });

  it('is asked which image is meant when it names what no server knows', async () => {
    const server = start();
    await post(server, first);
    const { result } = await (await post(server, second)).json();
    expect(result).toMatchObject({
      kind: 'task',
      contextId: 'ctx-conversation-abc',
      status: { state: 'input-required', message: { kind: 'message', role: 'agent' } },
    });
    expect(result).not.toHaveProperty('artifacts');
  });

  it('is refused without the lenient mode', async () => {
    const { error } = await (await post(serve({ agent: painter }), first)).json();
    expect(error).toMatchObject({ code: -32601 });
  });
});

it('a forgotten comma is a parse error', async () => {
  const reply = await post(serve({ agent: painter }, { lenient: true }), forgotten);
  expect(reply.status).toBe(200);
  expect(await reply.json()).toEqual({
    jsonrpc: '2.0',
    id: null,
    error: expect.objectContaining({ code: -32700 }),
  });
});

describe('the document about history', () => {
  const task = json('history/task');
  const [question] = task.history;

  it('prints what an agent answers whose history ends in the current status', async () => {
    const server = serve({ agent: exchanger, messages: { currentStatusInHistory: true } }, { lenient: true });
    const { result } = await ask(server, 'message.send', { message: question });
    const { status, history } = (await ask(server, 'tasks.get', { id: result.id })).result;
    const printable = ({ role, parts }: typeof question) => ({
      role,
      parts: parts.map(({ text }: { text: string }) => ({ type: 'text', text })),
    });
    expect({
      status: { state: status.state, message: printable(status.message) },
      history: history.map(printable),
    }).toEqual(task);
    expect(history.at(-1)).toEqual(status.message);
    expect(status.message.parts[0]).toEqual({ kind: 'text', text: task.status.message.parts[0].text });
  });

  it('prints a task that a client understands', () => {
    const [binding] = v03Client().bindings;
    const reply = {
      status: 200,
      headers: new Headers(),
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, result: { id: 't', contextId: 'c', ...task } }),
    };
    const read = binding!.decodeReply({ operation: 'GetTask', params: { id: 't' } }, reply);
    expect(read).toMatchObject({
      status: { state: 'TASK_STATE_INPUT_REQUIRED', message: { role: 'ROLE_AGENT' } },
      history: [{ role: 'ROLE_USER', parts: [{ text: '10美元等于多少?' }] }, { role: 'ROLE_AGENT' }],
    });
    expect(statusMessageIsLast(read as Parameters<typeof statusMessageIsLast>[0])).toBe(true);
  });
});

it('the answers that the documents print are understood, whatever they are spelt like', () => {
  const [binding] = v03Client().bindings;
  const read = (path: string) =>
    binding!.decodeReply(
      { operation: 'SendMessage', params: {} },
      { status: 200, headers: new Headers(), body: printed(path) },
    );
  const part = { filename: 'sailboat_image.png', mediaType: 'image/png' };
  for (const document of ['life-of-a-task', 'life-of-a-task-zh']) {
    expect(read(`${document}/2-answer`)).toMatchObject({
      task: {
        status: { state: 'TASK_STATE_COMPLETED' },
        artifacts: [{ parts: [{ ...part, raw: 'base64_encoded_png_data_of_a_sailboat' }] }],
      },
    });
  }
  expect(read('life-of-a-task/4-answer')).toEqual(read('life-of-a-task-zh/4-answer'));
});

it('a file in an old spelling arrives', async () => {
  const [part] = json('life-of-a-task-zh/2-answer').result.artifacts[0].parts;
  const file = { ...part.file, fileWithBytes: 'aGVsbG8=' };
  const server = serve(
    {
      agent: ({ message }) => ({ messageId: 'a', role: 'ROLE_AGENT', parts: message.parts }),
      card: { name: 'Echo', description: 'Says it again', defaultInputModes: ['image/*'] },
    },
    { lenient: true },
  );
  const { result } = await ask(server, 'message.send', {
    message: { role: 'user', messageId: 'f', parts: [{ file }] },
  });
  expect(result).toMatchObject({
    kind: 'message',
    parts: [{ kind: 'file', file: { name: file.name, mimeType: 'image/png', bytes: 'aGVsbG8=' } }],
  });
});
