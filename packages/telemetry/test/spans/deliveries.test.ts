import { metricsHandler, telemetry } from '@batonjs/telemetry';
import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { describe, expect, it } from 'vitest';
import { serve } from '../../../../test/kit/serve.ts';
import { observed } from '../observed.ts';

const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
const start = {
  taskId: 't',
  configId: 'c',
  attempt: 2,
  url: 'https://hook.example:8443/secret-path',
  lagMs: 1_500,
  traceparent,
};

type End = Parameters<ReturnType<ReturnType<typeof telemetry>['delivery']>['end']>[0];

/** A delivery that ended so: its span, and what was counted. */
async function ended(end: End, more: Partial<typeof start> | { traceparent: undefined } = {}) {
  const { providers, spans, metrics } = observed();
  const delivery = telemetry(providers).delivery({ ...start, ...more });
  delivery.end(end);
  const [span] = spans('baton.push');
  return { span: span!, headers: delivery.headers, counted: await metrics() };
}

describe('an attempt to deliver to a webhook', () => {
  it.each<[End, object, string | undefined]>([
    [{ outcome: 'delivered', status: 200 }, { 'http.response.status_code': 200 }, undefined],
    [{ outcome: 'delivered' }, {}, undefined],
    [{ outcome: 'handed_back', reason: 'no answer' }, {}, undefined],
    [
      { outcome: 'failed', status: 503, reason: 'connection ECONNRESET' },
      { 'http.response.status_code': 503 },
      '503',
    ],
    [{ outcome: 'failed', reason: 'connection ECONNRESET' }, {}, 'ECONNRESET'],
    [{ outcome: 'failed', reason: 'connection E2_BIG' }, {}, 'E2_BIG'],
    [{ outcome: 'failed', reason: 'no answer in 10 s' }, {}, 'timeout'],
    [{ outcome: 'failed', reason: 'a connection ECONNRESET' }, {}, '_OTHER'],
    [{ outcome: 'failed', reason: 'connection ECONNRESET at hook.example' }, {}, '_OTHER'],
    [{ outcome: 'failed', reason: 'there was no answer' }, {}, '_OTHER'],
    [{ outcome: 'failed' }, {}, '_OTHER'],
  ])('that ended as %j says so, and no more than the kind of what failed', async (end, more, errorType) => {
    const { span, counted } = await ended(end);
    expect(span.kind).toBe(SpanKind.PRODUCER);
    expect(span.attributes).toEqual({
      'a2a.task.id': 't',
      'baton.push.config_id': 'c',
      'baton.attempt': 2,
      'server.address': 'hook.example',
      'server.port': 8_443,
      'baton.push.outcome': end.outcome,
      ...more,
      ...(errorType !== undefined && { 'error.type': errorType }),
    });
    expect(span.status.code).toBe(errorType === undefined ? SpanStatusCode.UNSET : SpanStatusCode.ERROR);
    expect(counted.filter(({ name }) => name.startsWith('baton.push'))).toEqual([
      { name: 'baton.push.deliveries', attributes: { 'baton.push.outcome': end.outcome }, value: 1 },
      // The lag is that of what arrived.
      ...(end.outcome === 'delivered' ? [{ name: 'baton.push.lag', attributes: {}, value: 1 }] : []),
    ]);
  });

  it('has the lag in seconds', async () => {
    const made = telemetry({ expose: true });
    const server = serve(async function* () {}, { telemetry: made });
    made.delivery(start).end({ outcome: 'delivered' });
    const { fetch } = metricsHandler(server, { token: null });
    const text = await (await fetch(new Request('http://127.0.0.1'))).text();
    expect(text).toContain('\nbaton_push_lag_seconds_sum 1.5\n');
  });

  it('links to the request that started the task, in a trace of its own, which the webhook can continue', async () => {
    const { span, headers } = await ended({ outcome: 'delivered' });
    expect(span.parentSpanContext).toBeUndefined();
    expect(span.links.map(({ context }) => context.spanId)).toEqual(['b'.repeat(16)]);
    const { traceId, spanId } = span.spanContext();
    expect(headers).toEqual({ traceparent: `00-${traceId}-${spanId}-01` });
    const without = await ended({ outcome: 'delivered' }, { traceparent: undefined });
    expect(without.span.links).toEqual([]);
  });
});
