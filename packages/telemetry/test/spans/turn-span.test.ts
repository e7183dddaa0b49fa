import { telemetry } from '@batonjs/telemetry';
import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { updatesIn } from '../../../server/src/base/hooks/telemetry.ts';
import { linkTo } from '../../src/with-trace.ts';
import { observed } from '../observed.ts';

const start = {
  taskId: 't',
  contextId: 'c',
  turn: 3,
  attempt: 2,
  cause: 'message',
  traceparent: undefined,
  isImmediate: false,
  isWorker: false,
} as const;

/** A turn of a server whose telemetry is observed, on a clock that the test sets. */
function begun(more: Partial<Parameters<ReturnType<typeof telemetry>['turn']>[0]> = {}) {
  const { providers, spans, metrics } = observed();
  let now = 1_000;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
  onTestFinished(() => clock.mockRestore());
  const recorded: [string, number][] = [];
  const meter = providers.meterProvider.getMeter('@batonjs/telemetry');
  const make = meter.createHistogram.bind(meter);
  meter.createHistogram = (name, options) => {
    const histogram = make(name, options);
    return {
      record(value, attributes) {
        recorded.push([name, value]);
        histogram.record(value, attributes);
      },
    };
  };
  const meterProvider = { getMeter: () => meter };
  const turn = telemetry({ ...providers, meterProvider }).turn({ ...start, ...more });
  return {
    turn,
    recorded,
    metrics,
    span: () => spans('baton.turn')[0]!,
    pass: (ms: number) => {
      now += ms;
    },
  };
}

async function* three() {
  yield 1;
  yield 2;
  yield 3;
}

describe('the span of a turn', () => {
  it('tells from the call of the agent to its first update, once, and how long the attempt took', async () => {
    const { turn, recorded, pass } = begun({ waitedMs: 250 });
    const values: number[] = [];
    pass(500);
    for await (const value of updatesIn(turn, three())) {
      values.push(value);
      pass(1_000);
    }
    turn.end({ state: 'TASK_STATE_COMPLETED', halted: undefined });
    expect(values).toEqual([1, 2, 3]);
    expect(recorded).toEqual([
      ['baton.turn.wait.duration', 0.25],
      ['baton.turn.first_update.duration', 0.5],
      ['baton.turn.duration', 3.5],
    ]);
  });

  it('tells of no first update where there is none, and of no wait that nobody had', async () => {
    const { turn, recorded } = begun();
    for await (const _ of updatesIn(turn, (async function* () {})())) throw new Error('There is none');
    turn.end({ state: undefined, halted: undefined });
    expect(recorded).toEqual([['baton.turn.duration', 0]]);
  });

  it('says why it was halted, which is no error of the agent', async () => {
    const { turn, span, metrics } = begun();
    turn.end({ state: 'TASK_STATE_WORKING', halted: 'shutdown', error: new TypeError('x') });
    expect(span().attributes).toEqual({
      'a2a.task.id': 't',
      'gen_ai.conversation.id': 'c',
      'baton.turn.number': 3,
      'baton.attempt': 2,
      'baton.turn.cause': 'message',
      'a2a.task.state': 'TASK_STATE_WORKING',
      'baton.turn.halted': 'shutdown',
    });
    expect([span().status.code, span().kind]).toEqual([SpanStatusCode.UNSET, SpanKind.INTERNAL]);
    expect((await metrics()).find(({ name }) => name === 'baton.turn.duration')?.attributes).toEqual({
      'baton.turn.cause': 'message',
      'a2a.task.state': 'TASK_STATE_WORKING',
      'baton.turn.halted': 'shutdown',
    });
  });

  it('has the kind of an error that nothing halted', () => {
    const { turn, span } = begun({ isWorker: true });
    turn.end({ state: undefined, halted: undefined, error: new TypeError('x') });
    expect([span().status.code, span().attributes['error.type'], span().kind]).toEqual([
      SpanStatusCode.ERROR,
      'TypeError',
      SpanKind.CONSUMER,
    ]);
  });

  it('lets the agent clean up when its reader leaves, and throws into it what its reader throws', async () => {
    const seen: unknown[] = [];
    async function* careful() {
      try {
        yield 1;
        yield 2;
      } catch (error) {
        seen.push(error);
        yield 3;
      } finally {
        seen.push('cleaned');
      }
    }
    const left = updatesIn(begun().turn, careful());
    await left.next();
    expect(await left.return?.('over')).toEqual({ done: true, value: 'over' });
    const thrown = updatesIn(begun().turn, careful());
    await thrown.next();
    expect(await thrown.throw?.('no')).toEqual({ done: false, value: 3 });
    expect(seen).toEqual(['cleaned', 'no']);
  });

  it('takes values that can neither be left nor thrown into', async () => {
    const plain = { [Symbol.asyncIterator]: () => ({ next: async () => ({ done: false, value: 1 }) }) };
    const iterator = updatesIn(begun().turn, plain);
    expect(await iterator.next()).toEqual({ done: false, value: 1 });
    expect(await iterator.return?.('over')).toEqual({ done: true, value: 'over' });
    expect(iterator.throw).toBeUndefined();
  });
});

describe('values in the context of a span', () => {
  it('are made in it, and are their own iterator', async () => {
    const { turn } = begun();
    const seen: unknown[] = [];
    const values = updatesIn(turn, {
      async *[Symbol.asyncIterator]() {
        seen.push(trace.getActiveSpan());
        yield 1;
      },
    });
    for await (const value of values) seen.push(value);
    expect(seen).toEqual([turn.run(() => trace.getActiveSpan()), 1]);
    expect(seen[0]).toBeDefined();
    expect(values[Symbol.asyncIterator]()).toBe(values);
  });
});

it.each([`x00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`, `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01x`])(
  'what is no traceparent is no link: %s',
  (text) => expect(linkTo(text)).toBeUndefined(),
);
