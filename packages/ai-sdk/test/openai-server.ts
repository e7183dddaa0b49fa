import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';

/** A request as a model of the OpenAI API gets it. */
export interface ModelRequest {
  readonly messages: readonly {
    readonly role: string;
    readonly content?: unknown;
    readonly tool_calls?: readonly { readonly id: string }[];
    readonly tool_call_id?: string;
  }[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
}

/** What a model answers. */
export type ModelAnswer =
  /** Reasoning, then text in pieces, then tool calls. `finish` is the reason; undefined breaks the answer off. */
  | {
      readonly reasoning?: string;
      readonly text?: readonly string[];
      readonly calls?: readonly { readonly id: string; readonly name: string; readonly input: unknown }[];
      readonly finish?: string | undefined;
    }
  | { readonly status: number; readonly body: string }
  /** A text after which nothing comes. */
  | { readonly hang: string };

/** A server that speaks the API of OpenAI, and what it was asked. */
export interface ModelServer extends AsyncDisposable {
  readonly url: string;
  readonly requests: readonly ModelRequest[];
  /** Resolves when a client has left before the end of an answer. */
  readonly left: Promise<void>;
}

/** Starts a server whose answers are scripted, by the number of the request from 1. */
export async function serveModel(
  answer: (request: ModelRequest, number: number) => ModelAnswer | Promise<ModelAnswer>,
): Promise<ModelServer> {
  const requests: ModelRequest[] = [];
  const left = Promise.withResolvers<void>();
  const server = createServer(async (request, response) => {
    response.on('close', () => response.writableFinished || left.resolve());
    const asked = (await json(request)) as ModelRequest;
    requests.push(asked);
    write(response, await answer(asked, requests.length));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    left: left.promise,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function write(response: ServerResponse, answer: ModelAnswer): void {
  if ('status' in answer) {
    response.writeHead(answer.status, { 'Content-Type': 'application/json' }).end(answer.body);
    return;
  }
  response.writeHead(200, { 'Content-Type': 'text/event-stream' });
  const send = (delta: object, finish: string | null = null) => {
    const chunk = {
      id: 'c',
      created: 1,
      model: 'local',
      choices: [{ index: 0, delta, finish_reason: finish }],
    };
    response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  };
  if ('hang' in answer) {
    send({ role: 'assistant', content: answer.hang });
    return;
  }
  const { reasoning, text = [], calls } = answer;
  if (reasoning) send({ role: 'assistant', reasoning_content: reasoning });
  for (const content of text) send({ role: 'assistant', content });
  const tool_calls = calls?.map(({ id, name, input }, index) => ({
    index,
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(input) },
  }));
  if (tool_calls) send({ role: 'assistant', tool_calls });
  const finish = 'finish' in answer ? answer.finish : calls ? 'tool_calls' : 'stop';
  if (finish === undefined) return void response.destroy();
  send({}, finish);
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  response.end(
    `data: ${JSON.stringify({ id: 'c', created: 1, model: 'local', choices: [], usage })}\n\ndata: [DONE]\n\n`,
  );
}

/** The model of a server, as the AI SDK calls it. */
export const modelAt = (url: string, settings: { readonly apiKey?: string } = {}) =>
  createOpenAICompatible({ name: 'local', baseURL: url, includeUsage: true, ...settings })('local');
