import { connect } from '@batonjs/client';
import { type Agent, completed, inputRequired, working } from '@batonjs/server';
import { createWorker } from '@batonjs/server/worker';
import { memoryStore } from '@batonjs/store-memory';
import { clientTelemetry, telemetry, withTrace } from '@batonjs/telemetry';
import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { describe, expect, it } from 'vitest';
import { closedAfterTest } from '../../../test/kit/closed-after-test.ts';
import { rpc, say } from '../../../test/kit/rpc.ts';
import { serve } from '../../../test/kit/serve.ts';
import { observed } from './observed.ts';

const spanId = () => trace.getActiveSpan()?.spanContext().spanId;

describe('a turn', () => {
  it('that runs at once is a child of its request, and its steps of it, in one trace with the client [R-OTEL-42] [R-OTEL-52] [R-OTEL-53]', async () => {
    const { providers, ended } = observed();
    const server = serve(
      async function* ({ step }) {
        await step('look up', () => 1);
        yield completed();
      },
      { telemetry: telemetry(providers) },
    );
    const agent = await connect('http://localhost', {
      fetch: server.fetch,
      telemetry: clientTelemetry(providers),
    });
    await agent.send('go');
    const [turn] = await ended('baton.turn');
    const [step] = await ended('baton.step');
    const [request, call] = await ended('SendMessage', 2);
    const parents = [step, turn, request, call].map((span) => span!.parentSpanContext?.spanId);
    const ids = [turn, request, call].map((span) => span!.spanContext().spanId);
    expect(parents).toEqual([...ids, undefined]);
    expect(new Set([step, turn, request, call].map((span) => span!.spanContext().traceId)).size).toBe(1);
    expect(turn!.kind).toBe(SpanKind.INTERNAL);
    expect(turn!.attributes).toMatchObject({
      'baton.turn.number': 1,
      'baton.attempt': 1,
      'baton.turn.cause': 'message',
      'a2a.task.state': 'TASK_STATE_COMPLETED',
    });
    expect(step!.attributes).toEqual({ 'baton.step.name': 'look up' });
  });

  it('is the active span for all code of the agent, whenever it goes on [R-OTEL-43]', async () => {
    const { providers, ended } = observed();
    const seen: (string | undefined)[] = [];
    const server = serve(
      async function* ({ step }) {
        try {
          seen.push(spanId());
          yield working();
          seen.push(spanId());
          await new Promise(setImmediate);
          yield working('still');
          seen.push(spanId());
          await step('a', async () => {
            expect(spanId()).not.toBe(seen[0]);
          });
          yield completed();
        } finally {
          seen.push(spanId());
        }
      },
      { telemetry: telemetry(providers) },
    );
    await rpc(server, 'SendMessage', { message: say('go') });
    const [turn] = await ended('baton.turn');
    expect(new Set(seen)).toEqual(new Set([turn!.spanContext().spanId]));
    expect(seen.length).toBeGreaterThanOrEqual(3);
  });

  it('in a worker begins a trace that links to the request [R-OTEL-52] [R-OTEL-60]', async () => {
    const { providers, ended } = observed();
    const store = memoryStore();
    const agent: Agent = async function* () {
      yield completed();
    };
    const options = { store, telemetry: telemetry(providers) };
    const server = serve(agent, { ...options, run: 'workers' });
    closedAfterTest(createWorker({ agent, logger: () => {}, ...options }));
    await rpc(server, 'SendMessage', { message: say('go') });
    const [request] = await ended('SendMessage');
    const [turn] = await ended('baton.turn');
    expect(turn!.kind).toBe(SpanKind.CONSUMER);
    expect(turn!.parentSpanContext).toBeUndefined();
    expect(turn!.spanContext().traceId).not.toBe(request!.spanContext().traceId);
    expect(turn!.links.map(({ context }) => context.spanId)).toEqual([request!.spanContext().spanId]);
  });

  it('that another process takes over has one span per attempt, each linked to the request [R-OTEL-53] [R-OTEL-60] [R-OTEL-63]', async () => {
    const { providers, ended, metrics, spans } = observed();
    const store = memoryStore();
    const options = {
      restart: 'rerun',
      timeouts: { leaseMs: 300, storeMs: 300 },
      telemetry: telemetry(providers),
    } as const;
    let dead = false;
    const dying = new Proxy(store, {
      get(target, name, receiver) {
        const member = Reflect.get(target, name, receiver);
        if (typeof member !== 'function') return member;
        return (...args: unknown[]) => (dead ? new Promise(() => {}) : member.apply(target, args));
      },
    });
    const runs = Promise.withResolvers<void>();
    const first = serve(
      async function* ({ step }) {
        yield working();
        await step('pay', () => 'paid');
        dead = true;
        runs.resolve();
        await new Promise(() => {});
      },
      { ...options, store: dying },
    );
    const { task } = await rpc(first, 'SendMessage', {
      message: say('go'),
      configuration: { returnImmediately: true },
    });
    await runs.promise;
    serve(
      async function* ({ step }) {
        await step('pay', () => 'paid twice');
        yield completed();
      },
      { ...options, store },
    );
    const finished = await ended('baton.turn');
    const second = finished.find(({ attributes }) => attributes['baton.attempt'] === 2);
    expect(second!.attributes).toMatchObject({
      'a2a.task.id': task.id,
      'baton.turn.cause': 'recovery',
      'a2a.task.state': 'TASK_STATE_COMPLETED',
    });
    const [request] = spans('SendMessage');
    expect(second!.links.map(({ context }) => context.spanId)).toEqual([request!.spanContext().spanId]);
    expect(second!.events.map(({ name, attributes }) => [name, attributes])).toEqual([
      ['baton.step.replayed', { 'baton.step.name': 'pay' }],
    ]);
    expect(await metrics()).toContainEqual({ name: 'baton.turns.recovered', attributes: {}, value: 1 });
  });

  it('that throws has the kind of the error, and not its text [R-OTEL-05] [R-OTEL-30]', async () => {
    const { providers, ended } = observed();
    const server = serve(
      async function* ({ step }) {
        await step('break', async () => {
          throw new RangeError('secret of the agent');
        });
        yield completed();
      },
      { telemetry: telemetry(providers) },
    );
    await rpc(server, 'SendMessage', { message: say('go') });
    const [[turn], [step]] = [await ended('baton.turn'), await ended('baton.step')];
    for (const span of [turn!, step!]) {
      expect(span.status).toEqual({ code: SpanStatusCode.ERROR });
      expect(span.attributes['error.type']).toBe('RangeError');
      expect(JSON.stringify([span.attributes, span.events, span.status])).not.toContain('secret');
    }
    expect(turn!.attributes['a2a.task.state']).toBe('TASK_STATE_FAILED');
  });

  it('after a question is another one, a child of the request that answered [R-OTEL-52]', async () => {
    const { providers, ended } = observed();
    const server = serve(
      async function* ({ text: said }) {
        if (said === 'go') yield inputRequired('How many?');
        else yield completed();
      },
      { telemetry: telemetry(providers) },
    );
    const { task } = await rpc(server, 'SendMessage', { message: say('go') });
    await rpc(server, 'SendMessage', { message: say('two', { taskId: task.id }) });
    const turns = await ended('baton.turn', 2);
    const requests = await ended('SendMessage', 2);
    const seen = turns.map(({ attributes, parentSpanContext, kind, links }) => [
      attributes['baton.turn.number'],
      attributes['a2a.task.state'],
      parentSpanContext?.spanId,
      kind,
      links,
    ]);
    const [asking, answering] = requests.map((span) => span.spanContext().spanId);
    expect(seen).toEqual([
      [1, 'TASK_STATE_INPUT_REQUIRED', asking, SpanKind.INTERNAL, []],
      [2, 'TASK_STATE_COMPLETED', answering, SpanKind.INTERNAL, []],
    ]);
  });

  it.each([
    ['a server', SpanKind.INTERNAL],
    ['a worker', SpanKind.CONSUMER],
  ])(
    'that no message starts, in %s, begins a trace that links to the latest request [R-OTEL-52]',
    async (process, kind) => {
      const { providers, ended } = observed();
      const store = memoryStore();
      const key = Promise.withResolvers<string>();
      let isAgain = false;
      const agent: Agent = async function* ({ woken, wakeAt, wakeKey }) {
        if (!woken) {
          key.resolve(wakeKey);
          return yield inputRequired('How many?');
        }
        if (isAgain) return yield completed();
        isAgain = true;
        yield working('Asking again');
        await wakeAt(Date.now() - 1);
      };
      const options = { store, telemetry: telemetry(providers) };
      const isServer = process === 'a server';
      const server = serve(agent, { ...options, run: isServer ? 'here' : 'workers' });
      if (!isServer) closedAfterTest(createWorker({ agent, logger: () => {}, ...options }));
      await rpc(server, 'SendMessage', { message: say('go') });
      await server.wake(await key.promise);
      const [, ...unasked] = await ended('baton.turn', 3);
      const [request] = await ended('SendMessage');
      const seen = unasked.map(({ attributes, parentSpanContext, links, ...span }) => [
        attributes['baton.turn.cause'],
        parentSpanContext,
        span.kind,
        links.map(({ context }) => context.spanId),
      ]);
      const { spanId } = request!.spanContext();
      expect(seen).toEqual([
        ['woken', undefined, kind, [spanId]],
        ['clock', undefined, kind, [spanId]],
      ]);
    },
  );
});

describe('a log', () => {
  it('gets the trace of the work that it is about', async () => {
    const { providers, ended } = observed();
    const lines: Readonly<Record<string, unknown>>[] = [];
    const server = serve(
      () => {
        throw new Error('broken');
      },
      {
        telemetry: telemetry(providers),
        logger: withTrace((_level, _message, details) => void lines.push(details)),
      },
    );
    await rpc(server, 'SendMessage', { message: say('go') }).catch(() => {});
    const [request] = await ended('SendMessage');
    expect(lines).toContainEqual(expect.objectContaining({ traceId: request!.spanContext().traceId }));
  });

  it('stays as it is where there is no trace', () => {
    const lines: unknown[] = [];
    withTrace((...line) => void lines.push(line))('info', 'x', { a: 1 });
    expect(lines).toEqual([['info', 'x', { a: 1 }]]);
  });
});

describe('retries', () => {
  it('are attempts: each try of a step has a span with its number, and each attempt of a turn one that failed', async () => {
    const { providers, ended, metrics } = observed();
    let calls = 0;
    const server = serve(
      async function* ({ step }) {
        await step('look up', { retries: 1, backoff: { initialMs: 0 } }, ({ attempt }) => {
          if (attempt === 1) throw new Error('Busy');
        });
        if (++calls === 1) throw new Error('Broken');
        yield completed();
      },
      { telemetry: telemetry(providers), retry: { retries: 1, backoff: { initialMs: 0 } } },
    );
    await rpc(server, 'SendMessage', { message: say('go') });
    const steps = await ended('baton.step', 2);
    expect(steps.map(({ attributes, status }) => [attributes['baton.step.attempt'], status.code])).toEqual([
      [1, SpanStatusCode.ERROR],
      [2, SpanStatusCode.UNSET],
    ]);
    const turns = await ended('baton.turn', 2);
    expect(turns.map(({ attributes, status }) => [attributes['baton.attempt'], status.code])).toEqual([
      [1, SpanStatusCode.ERROR],
      [2, SpanStatusCode.UNSET],
    ]);
    expect(JSON.stringify(await metrics())).toContain('baton.turns.failed');
  });
});
