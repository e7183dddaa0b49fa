import { type FileBytes, v03Grpc } from '@batonjs/bindings-v0-3';
import { connect } from '@batonjs/client';
import { completed } from '@batonjs/server';
import { Client, credentials, Metadata, Server, ServerCredentials, status } from '@grpc/grpc-js';
import { expect, it, onTestFinished } from 'vitest';
import { grpcClient, listenGrpc } from '../src/index.ts';
import { serviceOf } from '../src/wire/a2a-service.ts';
import { decodeMessage } from '../src/wire/decode-message.ts';
import { encodeMessage } from '../src/wire/encode-message.ts';
import { serve } from './agent.ts';
import { refused } from './raw-client.ts';

// What the official SDK for Python sends and reads over gRPC in 0.3: errors by the name in the text of the status, and the
// base64 text of files in the field for their bytes.

const service = serviceOf(v03Grpc());
const methodOf = (name: string) => service.methods.find((method) => method.name === name)!;
const same = (bytes: Buffer) => bytes;
/** Bytes that are no text, as base64, and as the base64 of that text. */
const once = 'AAEC/v8=';
const twice = 'QUFFQy92OD0=';

const sent = (fileWithBytes: string) => ({
  request: { messageId: crypto.randomUUID(), role: 'ROLE_USER', content: [{ file: { fileWithBytes } }] },
});

/** A client that names itself so, of an agent that answers with the files that it is sent. */
async function caller(userAgent: string, files?: FileBytes) {
  const got: unknown[] = [];
  const { server } = await serve({
    async *agent({ message }) {
      const parts = message.parts.filter((part) => 'raw' in part);
      got.push(...parts);
      yield { artifact: { artifactId: 'files', parts } };
      yield completed();
    },
  });
  const listener = await listenGrpc(server, { port: 0, versions: [v03Grpc(files ? { files } : {})] });
  onTestFinished(() => listener.close({ graceMs: 0 }));
  const client = new Client(listener.address!, credentials.createInsecure(), {
    'grpc.primary_user_agent': userAgent,
  });
  onTestFinished(() => client.close());
  const call = (name: string, params: object) =>
    // biome-ignore lint/suspicious/noExplicitAny: tests look into messages
    new Promise<any>((resolve, reject) => {
      const { path, request, response } = methodOf(name);
      const bytes = Buffer.from(encodeMessage(request, params));
      client.makeUnaryRequest(path, same, same, bytes, new Metadata(), (error, value) =>
        error ? reject(error) : resolve(decodeMessage(response, value!)),
      );
    });
  return { call, got };
}

it.each<[string, FileBytes | undefined, string]>([
  ['grpc-python-asyncio/1.67.1', undefined, once],
  ['grpc-go/1.70.0', undefined, once],
  ['grpc-java-netty/1.6', 'base64', once],
  ['grpc-python-asyncio/1.67.1', 'bytes', twice],
  ['grpc-java-netty/1.6', undefined, twice],
])('of %s with `files` of %s, a file is %s for the agent', async (userAgent, files, raw) => {
  const { call, got } = await caller(userAgent, files);
  const { task } = await call('SendMessage', sent(twice));
  expect(got).toEqual([{ raw }]);
  const inAnswer = ({ artifacts }: typeof task) => artifacts[0].parts[0].file.fileWithBytes;
  expect(inAnswer(task)).toBe(twice);
  expect(inAnswer(await call('GetTask', { name: `tasks/${task.id}` }))).toBe(twice);
});

it('names an error in the text of its status', async () => {
  const { call } = await caller('grpc-python-asyncio/1.67.1');
  expect(await refused(call('GetTask', { name: 'tasks/missing' }))).toMatchObject({
    code: status.NOT_FOUND,
    message: 'TaskNotFoundError: Task not found',
    details: [{ reason: 'TASK_NOT_FOUND' }],
  });
});

it('reads the name of an error, and files, of an agent', async () => {
  const server = new Server();
  const { path, response } = methodOf('SendMessage');
  const cancel = methodOf('CancelTask').path;
  const wire = {
    requestStream: false,
    responseStream: false,
    requestSerialize: same,
    requestDeserialize: same,
  };
  const own = { ...wire, responseSerialize: same, responseDeserialize: same };
  const requests: unknown[] = [];
  server.addService(
    { SendMessage: { ...own, path }, CancelTask: { ...own, path: cancel } },
    {
      SendMessage(call: { request: Buffer }, respond: (error: null, value: Buffer) => void) {
        requests.push(decodeMessage(methodOf('SendMessage').request, call.request));
        const parts = [{ file: { fileWithBytes: twice, mimeType: 'image/png' } }];
        const task = { id: 't', contextId: 'c', status: { state: 'TASK_STATE_COMPLETED' } };
        const artifacts = [{ artifactId: 'a', parts }];
        respond(null, Buffer.from(encodeMessage(response, { task: { ...task, artifacts } })));
      },
      CancelTask(_: unknown, respond: (error: object) => void) {
        respond({ code: status.UNIMPLEMENTED, details: 'TaskNotCancelableError: It: has ended' });
      },
    },
  );
  onTestFinished(() => server.forceShutdown());
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    );
  });
  const supportedInterfaces = [{ url: `127.0.0.1:${port}`, protocolBinding: 'GRPC', protocolVersion: '0.3' }];
  const client = await connect({ name: 'Old', supportedInterfaces } as never, {
    bindings: [grpcClient({ version: v03Grpc({ files: 'base64' }) })],
    retry: false,
  });
  const message = { messageId: 'm', role: 'ROLE_USER' as const, parts: [{ raw: once }] };
  const { task } = (await client.sendMessage({ message })) as { task: { artifacts: unknown } };
  expect(requests).toMatchObject([{ request: { content: [{ file: { fileWithBytes: twice } }] } }]);
  expect(task.artifacts).toMatchObject([{ parts: [{ raw: once, mediaType: 'image/png' }] }]);
  await expect(client.cancelTask({ id: 't' })).rejects.toMatchObject({
    reason: 'TASK_NOT_CANCELABLE',
    message: 'It: has ended',
  });
});
