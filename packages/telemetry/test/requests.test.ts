import { grpcClient, listenGrpc } from '@batonjs/bindings-grpc';
import { connect } from '@batonjs/client';
import { append, artifact, completed, text, working } from '@batonjs/server';
import { listen as serveOn } from '@batonjs/server-node';
import { clientTelemetry, telemetry } from '@batonjs/telemetry';
import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { describe, expect, it } from 'vitest';
import { rpc, say, stream } from '../../../test/kit/rpc.ts';
import { serve } from '../../../test/kit/serve.ts';
import { observed } from './observed.ts';

const echo = async function* ({ text: said }: { text: string }) {
  yield working();
  yield artifact('echo', text(said));
  yield completed();
};

/** The attributes without those that differ between bindings. */
const common = ({ attributes }: { attributes: object }) =>
  Object.fromEntries(Object.entries(attributes).filter(([name]) => !/^server\.|^baton\.binding$/.test(name)));

describe('a request', () => {
  it('has one span of the client and one of the server, the same over every binding [R-OTEL-01] [R-OTEL-10] [R-OTEL-51]', async () => {
    const { providers, spans, ended } = observed();
    const server = serve(echo, {
      telemetry: telemetry(providers),
      card: { name: 'Echo', description: 'x', version: '7' },
    });
    const grpc = await listenGrpc(server, { port: 0 });
    const http = await serveOn(server, { port: 0 });
    const seen: Record<string, unknown>[] = [];
    for (const binding of ['JSONRPC', 'HTTP+JSON', 'GRPC']) {
      const agent = await connect(http.url, {
        binding,
        telemetry: clientTelemetry(providers),
        bindings: binding === 'GRPC' ? [grpcClient()] : undefined,
      });
      const before = spans('GetTask').length;
      const { task } = await agent.send('hello', { messageId: `m-${binding}` });
      await agent.task(task!.id).get();
      await ended('GetTask', before + 2);
      const [sentByServer, sentByClient] = spans('SendMessage').slice(-2);
      expect([sentByServer!.kind, sentByClient!.kind]).toEqual([SpanKind.SERVER, SpanKind.CLIENT]);
      expect(sentByServer!.parentSpanContext?.spanId).toBe(sentByClient!.spanContext().spanId);
      expect(sentByServer!.attributes['baton.binding']).toBe(binding);
      expect(sentByClient!.attributes['server.address']).toBe('127.0.0.1');
      const ids = {
        'a2a.message.id': `m-${binding}`,
        'a2a.task.id': task!.id,
        'gen_ai.conversation.id': task!.contextId,
      };
      for (const span of [sentByServer!, sentByClient!]) expect(span.attributes).toMatchObject(ids);
      seen.push({
        ...common(sentByServer!),
        'a2a.message.id': 'm',
        'a2a.task.id': 't',
        'gen_ai.conversation.id': 'c',
      });
    }
    expect(seen[0]).toEqual({
      'a2a.method.name': 'SendMessage',
      'a2a.protocol.version': '1.0',
      'a2a.message.id': 'm',
      'a2a.task.id': 't',
      'a2a.task.state': 'TASK_STATE_COMPLETED',
      'gen_ai.conversation.id': 'c',
      'gen_ai.agent.name': 'Echo',
      'gen_ai.agent.version': '7',
    });
    expect(seen[1]).toEqual(seen[0]);
    expect(seen[2]).toEqual(seen[0]);
    await grpc.close({ graceMs: 0 });
    await http.close({ graceMs: 0 });
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

  it('becomes part of the span of the transport where there is one [R-OTEL-03] [R-OTEL-42]', async () => {
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
    const found = spans().filter(({ kind }) => kind !== SpanKind.CONSUMER);
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
