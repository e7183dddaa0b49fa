import { connect } from '@batonjs/client';
import type { A2AError, ErrorReason } from '@batonjs/protocol/errors';
import { type Agent, artifact, completed } from '@batonjs/server';
import { describe, expect, it } from 'vitest';
import { v03Client } from '../../src/index.ts';
import { ask, post, say, serve } from '../serve.ts';

// What the official SDKs for Python and Go send and read in 0.3, where it is not what the text has.

const ERROR_INFO = 'type.googleapis.com/google.rpc.ErrorInfo';
/** Bytes that are no text, as base64, and as the base64 of that text. */
const once = 'AAEC/v8=';
const twice = 'QUFFQy92OD0=';

/** Keeps the files that it is sent, answers with them and with one of its own. */
const echo = (got: unknown[]): Agent =>
  async function* ({ message }) {
    const files = message.parts.flatMap((part) => ('raw' in part ? [part] : []));
    got.push(...files.map(({ raw }) => raw));
    yield artifact('files', { raw: once, mediaType: 'application/octet-stream' }, ...files);
    yield completed();
  };
const card = { name: 'Files', description: 'Takes files', defaultInputModes: ['*/*'] };
const python = { 'user-agent': 'python-httpx/0.28.1', 'a2a-version': '0.3' };
const go = { 'user-agent': 'Go-http-client/1.1', 'a2a-version': '0.3' };
const javascript = { 'user-agent': 'node' };
const file = (fileWithBytes: string, mimeType?: string) => ({ file: { fileWithBytes, mimeType } });
const message = (...content: object[]) => ({ messageId: 'p-1', role: 'ROLE_USER', content });
const filesIn = ({ artifacts }: { artifacts: { parts: { file: { fileWithBytes: string } }[] }[] }) =>
  artifacts.flatMap(({ parts }) => parts.map(({ file }) => file.fileWithBytes));

describe('files on HTTP+JSON', () => {
  const send = async (headers: Record<string, string>, options: object, ...content: object[]) => {
    const got: unknown[] = [];
    const server = serve({ agent: echo(got), card }, options);
    const body = JSON.stringify({ message: message(...content) });
    const response = await post(server, body, headers, '/v1/message:send');
    expect(response.status).toBe(200);
    const { task } = await response.json();
    const later = await server.fetch(new Request(`http://localhost/v1/tasks/${task.id}`, { headers }));
    expect(filesIn(await later.json())).toEqual(filesIn(task));
    return { got, answered: filesIn(task) };
  };
  it.each([
    ['Python', python, {}],
    ['Go', go, {}],
    ['a client of which the server is told', javascript, { files: 'base64' }],
  ])('are base64 text for %s, both ways', async (_, headers, options) => {
    const { got, answered } = await send(headers, options, file(twice), file(twice, 'text/plain'));
    expect(got).toEqual([once, once]);
    expect(answered).toEqual([twice, twice, twice]);
  });

  it('are bytes for others, unless all of a file that is no text is base64 text', async () => {
    const text = btoa('data');
    const parts = [file(once), file(twice, 'image/png'), file(text, 'text/plain'), file(text)];
    const { got, answered } = await send(javascript, {}, ...parts);
    expect(got).toEqual([once, once, text, text]);
    expect(answered).toEqual([once, once, once, text, text]);
    expect((await send(javascript, { files: 'bytes' }, file(twice, 'image/png'))).got).toEqual([twice]);
  });

  it('are what they are in the JSON of the text, and in data that looks like a file', async () => {
    const server = serve({ agent: echo([]), card });
    const { result } = await ask(
      server,
      'message/send',
      { message: say('', { parts: [{ kind: 'file', file: { bytes: twice } }] }) },
      python,
    );
    expect(result.artifacts[0].parts[1].file.bytes).toBe(twice);
    const seen: unknown[] = [];
    const keeper = serve({
      async *agent({ message: { parts } }) {
        seen.push(...parts);
        yield completed();
      },
    });
    const data = { data: { data: { parts: [{ raw: twice }] } } };
    await post(keeper, JSON.stringify({ message: message(data) }), python, '/v1/message:send');
    expect(seen).toEqual([{ data: { parts: [{ raw: twice }] } }]);
  });

  it.each([
    [{}, once],
    [{ files: 'base64' }, twice],
  ] as const)('are sent by a client with %o as its agent reads them', async (options, sent) => {
    const bodies: string[] = [];
    const card = { url: 'http://agent.example/', name: 'Old', preferredTransport: 'HTTP+JSON' };
    const agent = await connect(card as never, {
      compatibility: [v03Client(options)],
      fetch: async (request: Request) => {
        bodies.push(await request.text());
        const parts = [file(twice, 'application/octet-stream')];
        const status = { state: 'TASK_STATE_COMPLETED' };
        return Response.json({
          task: { id: 't', contextId: 'c', status, artifacts: [{ artifactId: 'a', parts }] },
        });
      },
    });
    const { task } = await agent.send({ messageId: 'm', role: 'ROLE_USER', parts: [{ raw: once }] });
    expect(JSON.parse(bodies[0]!).message.content).toEqual([file(sent)]);
    expect(task?.artifacts?.[0]?.parts).toEqual([{ raw: once, mediaType: 'application/octet-stream' }]);
  });
});

describe('errors', () => {
  const agent: Agent = async function* () {
    yield completed();
  };

  it('are lists of details for clients that name a version, as those of 1.0 read them', async () => {
    const server = serve({ agent });
    const named = await ask(server, 'tasks/get', { id: 'missing' }, go);
    expect(named.error).toEqual({
      code: -32001,
      message: 'Task not found',
      data: [
        {
          '@type': ERROR_INFO,
          reason: 'TASK_NOT_FOUND',
          domain: 'a2a-protocol.org',
          metadata: { taskId: 'missing' },
        },
      ],
    });
    const { error } = await ask(server, 'tasks/get', { id: 'missing' });
    expect(error.data).toEqual({ reason: 'TASK_NOT_FOUND', metadata: { taskId: 'missing' } });
  });

  it('say their name in `type` for Python, and are a `google.rpc.Status` for Go', async () => {
    const server = serve({ agent });
    const at = async (path: string) => {
      const response = await server.fetch(new Request(`http://localhost${path}`));
      return { status: response.status, body: await response.json() };
    };
    const details = [expect.objectContaining({ '@type': ERROR_INFO, reason: 'TASK_NOT_FOUND' })];
    expect(await at('/v1/tasks/missing')).toMatchObject({
      status: 404,
      body: {
        type: 'TaskNotFoundError',
        error: { code: 404, status: 'NOT_FOUND', message: 'Task not found', details },
      },
    });
    expect((await at('/v1/nothing')).body).toMatchObject({
      type: 'MethodNotFoundError',
      error: { code: 404 },
    });
    const broken = await post(server, '{', {}, '/v1/message:send');
    expect(await broken.json()).toMatchObject({ type: 'JSONParseError', error: { code: 400 } });
  });

  const readBy = (body: object, status: number, preferredTransport: string) =>
    connect({ url: 'http://agent.example/', name: 'Old', preferredTransport } as never, {
      compatibility: [v03Client()],
      retry: false,
      fetch: async () => Response.json(body, { status }),
    }).then((client) => client.getTask({ id: 't' }).catch((error: unknown) => error as A2AError));
  const info = (reason: ErrorReason, metadata: Record<string, string>) => ({
    '@type': ERROR_INFO,
    reason,
    domain: 'a2a-protocol.org',
    metadata,
  });

  it.each<[string, object, number, ErrorReason, Record<string, string> | undefined]>([
    [
      'TaskNotCancelableError',
      { type: 'TaskNotCancelableError', message: 'No' },
      400,
      'TASK_NOT_CANCELABLE',
      undefined,
    ],
    [
      'AuthenticatedExtendedCardNotConfiguredError',
      { type: 'AuthenticatedExtendedCardNotConfiguredError', message: 'No' },
      404,
      'EXTENDED_AGENT_CARD_NOT_CONFIGURED',
      undefined,
    ],
    ['no name', { type: 'about:blank', message: 'No' }, 404, 'TASK_NOT_FOUND', undefined],
    [
      'a status',
      {
        error: {
          code: 400,
          status: 'FAILED_PRECONDITION',
          message: 'No',
          details: [info('TASK_NOT_CANCELABLE', { a: '1' })],
        },
      },
      400,
      'TASK_NOT_CANCELABLE',
      { a: '1' },
    ],
  ])('of HTTP+JSON are read by %s', async (_, body, status, reason, metadata) => {
    const error = await readBy(body, status, 'HTTP+JSON');
    expect(error).toMatchObject({ reason, message: 'No', metadata, details: [] });
  });

  it('of JSON-RPC are read from a list of details', async () => {
    const detail = { '@type': 'type.googleapis.com/x', a: 1 };
    const error = { code: -32001, message: 'Gone', data: [info('TASK_NOT_FOUND', { a: '1' }), detail] };
    expect(await readBy({ jsonrpc: '2.0', id: 1, error }, 200, 'JSONRPC')).toMatchObject({
      reason: 'TASK_NOT_FOUND',
      message: 'Gone',
      metadata: { a: '1' },
      details: [detail],
    });
  });

  it('in a stream are read from a status too', async () => {
    const error = { code: 404, status: 'NOT_FOUND', message: 'Gone', details: [info('TASK_NOT_FOUND', {})] };
    const stream = () =>
      new Response(`data: ${JSON.stringify({ error })}\n\n`, {
        headers: { 'content-type': 'text/event-stream' },
      });
    const card = {
      url: 'http://agent.example/',
      name: 'Old',
      preferredTransport: 'HTTP+JSON',
      capabilities: { streaming: true },
    };
    const client = await connect(card as never, {
      compatibility: [v03Client()],
      retry: false,
      fetch: async () => stream(),
    });
    const listen = async () => {
      for await (const _ of client.subscribeToTask({ id: 't' }));
    };
    await expect(listen()).rejects.toMatchObject({ reason: 'TASK_NOT_FOUND', message: 'Gone' });
  });
});
