import { createServer } from 'node:http';
import { grpcClient, listenGrpc } from '@batonjs/bindings-grpc';
import { attachWebSocket, WEBSOCKET_BINDING, webSocketClient } from '@batonjs/bindings-websocket';
import { connect } from '@batonjs/client';
import { append, artifact, completed, text, working } from '@batonjs/server';
import { nodeHandler } from '@batonjs/server-node';
import { clientTelemetry, telemetry } from '@batonjs/telemetry';
import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { SamplingDecision, TracerProvider } from '@opentelemetry/sdk-trace';
import { describe, expect, it } from 'vitest';
import { listen } from '../../../test/kit/listen.ts';
import { rpc, say, stream } from '../../../test/kit/rpc.ts';
import { serve } from '../../../test/kit/serve.ts';
import { observed } from './observed.ts';

const echo = async function* ({ text: said }: { text: string }) {
  yield working();
  yield artifact('echo', text(said));
  yield completed();
};

const card = { name: 'Echo', description: 'Says it again', version: '7' };

describe('a request', () => {
  it('has one span of the client and one of the server, the same over every binding [R-OTEL-01, 04, 10, 11, 13, 16, 17, 18, 20, 51]', async () => {
    const { providers, spans, ended } = observed();
    const server = serve(echo, { telemetry: telemetry(providers), card });
    const grpc = await listenGrpc(server, { port: 0 });
    const listener = createServer(nodeHandler(server));
    const sockets = attachWebSocket(server, listener);
    const origin = await listen(listener);
    const webSocket = webSocketClient();
    const own = new Map([
      ['GRPC', [grpcClient()]],
      [WEBSOCKET_BINDING, [webSocket]],
    ]);
    for (const binding of ['JSONRPC', 'HTTP+JSON', 'GRPC', WEBSOCKET_BINDING]) {
      const agent = await connect(origin, {
        binding,
        telemetry: clientTelemetry(providers),
        bindings: own.get(binding),
      });
      const before = spans('GetTask').length;
      const { task } = await agent.send('hello', { messageId: `m-${binding}` });
      await agent.task(task!.id).get();
      await ended('GetTask', before + 2);
      const [sentByServer, sentByClient] = spans('SendMessage').slice(-2);
      expect([sentByServer!.kind, sentByClient!.kind]).toEqual([SpanKind.SERVER, SpanKind.CLIENT]);
      expect(sentByServer!.parentSpanContext?.spanId).toBe(sentByClient!.spanContext().spanId);
      for (const span of [sentByServer!, sentByClient!])
        expect(span.attributes).toEqual({
          'a2a.method.name': 'SendMessage',
          'a2a.protocol.version': '1.0',
          'a2a.message.id': `m-${binding}`,
          'a2a.task.id': task!.id,
          'a2a.task.state': 'TASK_STATE_COMPLETED',
          'gen_ai.conversation.id': task!.contextId,
          'gen_ai.agent.name': 'Echo',
          'gen_ai.agent.version': '7',
          'baton.binding': binding,
          'server.address': '127.0.0.1',
          'server.port': binding === 'GRPC' ? grpc.port : Number(new URL(origin).port),
        });
    }
    expect(new Set(spans().map(({ name }) => name))).toEqual(
      new Set(['SendMessage', 'GetTask', 'baton.turn']),
    );
    webSocket.close();
    await Promise.all([grpc.close({ graceMs: 0 }), sockets.close({ graceMs: 0 })]);
  });

  it('names the public URL of its server, whatever host it came to [R-OTEL-20]', async () => {
    const { providers, ended } = observed();
    const publicUrl = 'https://agents.example/echo';
    const server = serve(echo, { telemetry: telemetry(providers), publicUrl });
    const post = (url: string) => server.fetch(new Request(url, { headers: { 'a2a-version': '1.0' } }));
    await Promise.all([post('http://10.0.0.7/echo/tasks'), post('http://localhost/echo/tasks')]);
    for (const { attributes } of await ended('ListTasks', 2))
      expect(attributes).toMatchObject({ 'server.address': 'agents.example', 'server.port': 443 });
  });

  it.each([
    ['names no client', undefined, undefined],
    ['names its client where that is wanted', true, '127.0.0.1'],
  ])('%s [R-OTEL-21]', async (_, clientAddress, expected) => {
    const { providers, ended } = observed();
    const server = serve(echo, { telemetry: telemetry({ ...providers, clientAddress }) });
    const origin = await listen(createServer(nodeHandler(server)));
    await (await connect(origin)).listTasks();
    const [span] = await ended('ListTasks');
    expect(span!.attributes['client.address']).toBe(expected);
  });

  it('names the tenant and the tasks that its message refers to [R-OTEL-12] [R-OTEL-15]', async () => {
    const { providers, ended } = observed();
    const server = serve(echo, { telemetry: telemetry(providers) });
    await rpc(server, 'SendMessage', {
      tenant: 'acme',
      message: say('x', { referenceTaskIds: ['t-1', 't-2'] }),
    });
    const [span] = await ended('SendMessage');
    expect(span!.attributes).toMatchObject({
      'a2a.tenant': 'acme',
      'a2a.message.reference_task_ids': ['t-1', 't-2'],
    });
  });

  it('that polls a task is a sibling of the one that sent the message [R-OTEL-06]', async () => {
    const { providers, tracer, ended } = observed();
    const agent = await connect('http://localhost', {
      fetch: serve(echo).fetch,
      telemetry: clientTelemetry(providers),
    });
    await tracer.startActiveSpan('work', async (span) => {
      const { task } = await agent.send('go');
      await agent.task(task!.id).get();
      span.end();
    });
    const [work] = await ended('work');
    for (const name of ['SendMessage', 'GetTask']) {
      const [span] = await ended(name);
      expect(span!.parentSpanContext?.spanId).toBe(work!.spanContext().spanId);
    }
  });

  it('is shown to the sampler with its operation and its task [R-OTEL-62]', async () => {
    const shown: [string, unknown][] = [];
    const tracerProvider = new TracerProvider({
      sampler: {
        shouldSample(_context, _traceId, name, _kind, attributes) {
          shown.push([name, attributes['a2a.task.id'] ?? attributes['a2a.method.name']]);
          return { decision: SamplingDecision.NOT_RECORD };
        },
        toString: () => 'a sampler that records nothing',
      },
    });
    const server = serve(echo, { telemetry: telemetry({ tracerProvider }) });
    const { task } = await rpc(server, 'SendMessage', { message: say('go') });
    await rpc(server, 'GetTask', { id: task.id });
    expect(shown).toEqual([
      ['SendMessage', 'SendMessage'],
      ['baton.turn', task.id],
      ['GetTask', task.id],
    ]);
  });

  it.each(['JSONRPC', 'HTTP+JSON'])(
    'that is refused has an error with the reason of the protocol, over %s [R-OTEL-05] [R-OTEL-19]',
    async (binding) => {
      const { providers, ended, metrics } = observed();
      const server = serve(echo, { telemetry: telemetry(providers) });
      const agent = await connect('http://localhost', {
        fetch: server.fetch,
        binding,
        telemetry: clientTelemetry(providers),
      });
      await expect(agent.task('missing').get()).rejects.toMatchObject({ reason: 'TASK_NOT_FOUND' });
      for (const span of await ended('GetTask', 2)) {
        expect(span.status).toEqual({ code: SpanStatusCode.ERROR });
        expect(span.attributes).toMatchObject({ 'error.type': 'TASK_NOT_FOUND', 'a2a.task.id': 'missing' });
      }
      expect(await metrics()).toContainEqual({
        name: 'baton.server.request.duration',
        attributes: {
          'a2a.method.name': 'GetTask',
          'baton.binding': binding,
          'error.type': 'TASK_NOT_FOUND',
        },
        value: 1,
      });
    },
  );

  it('without credentials has a span with an error, too', async () => {
    const { providers, ended } = observed();
    const server = serve(echo, { telemetry: telemetry(providers), authenticate: () => undefined });
    await expect(rpc(server, 'SendMessage', { message: say('go') })).rejects.toThrow();
    const [span] = await ended('SendMessage');
    expect(span!.attributes).toMatchObject({ 'error.type': 'UNAUTHENTICATED' });
  });

  it('for a stream lasts until the stream ends, and has its last state [R-OTEL-02] [R-OTEL-14] [R-OTEL-31]', async () => {
    const { providers, spans, ended, metrics } = observed();
    const go = Promise.withResolvers<void>();
    const server = serve(
      async function* () {
        yield working();
        await go.promise;
        yield artifact('a', text('0'));
        for (let n = 1; n < 50; n++) yield append('a', text(String(n)));
        yield completed();
      },
      { telemetry: telemetry(providers) },
    );
    const events = stream(server, 'SendStreamingMessage', { message: say('go') });
    await events.next();
    expect(spans('SendStreamingMessage')).toEqual([]);
    const followers = async () => (await metrics()).find(({ name }) => name === 'baton.followers')?.value;
    expect(await followers()).toBe(1);
    go.resolve();
    for await (const _ of events);
    const [span] = await ended('SendStreamingMessage');
    expect(span!.attributes['a2a.task.state']).toBe('TASK_STATE_COMPLETED');
    expect(span!.events).toEqual([]);
    expect(await followers()).toBe(0);
  });

  it('whose reader leaves ends without an error [R-OTEL-50]', async () => {
    const { providers, ended } = observed();
    const over = Promise.withResolvers<void>();
    const server = serve(
      async function* () {
        yield working();
        await over.promise;
        yield completed();
      },
      { telemetry: telemetry(providers) },
    );
    for await (const _ of stream(server, 'SendStreamingMessage', { message: say('go') })) break;
    const [span] = await ended('SendStreamingMessage');
    expect(span!.status).toEqual({ code: SpanStatusCode.UNSET });
    over.resolve();
  });

  it('becomes part of the span of the transport where there is one, and its commits have none [R-OTEL-03] [R-OTEL-42] [R-OTEL-55]', async () => {
    const { providers, tracer, spans } = observed();
    const server = serve(echo, { telemetry: telemetry(providers) });
    await tracer.startActiveSpan('POST', { kind: SpanKind.SERVER }, async (span) => {
      await rpc(
        server,
        'SendMessage',
        { message: say('go') },
        { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` },
      );
      expect(trace.getActiveSpan()).toBe(span);
      span.end();
    });
    const found = spans();
    const [request] = found.filter(({ name }) => name === 'SendMessage');
    expect(request!.attributes).toMatchObject({ 'a2a.method.name': 'SendMessage' });
    expect(request!.parentSpanContext).toBeUndefined();
    expect(found.map(({ name }) => name).sort()).toEqual(['SendMessage', 'baton.turn']);
  });

  it('shows retries as events [R-OTEL-51]', async () => {
    const { providers, ended } = observed();
    const server = serve(echo);
    let broken = 2;
    const agent = await connect('http://localhost', {
      telemetry: clientTelemetry(providers),
      binding: 'JSONRPC',
      retry: { firstMs: 1 },
      fetch: (request) =>
        request.method === 'POST' && broken-- > 0
          ? Promise.reject(new TypeError('cut'))
          : server.fetch(request),
    });
    await agent.listTasks();
    const [span] = await ended('ListTasks');
    expect(span!.events.map(({ name, attributes }) => [name, attributes])).toEqual([
      ['baton.retry', { 'error.type': 'NETWORK' }],
      ['baton.retry', { 'error.type': 'NETWORK' }],
    ]);
    expect(span!.status.code).toBe(SpanStatusCode.UNSET);
  });
});
