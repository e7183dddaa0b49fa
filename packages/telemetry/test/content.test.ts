import { connect } from '@batonjs/client';
import { artifact, completed, data, failed, inputRequired, text, working } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { clientTelemetry, telemetry } from '@batonjs/telemetry';
import { SpanStatusCode } from '@opentelemetry/api';
import { describe, expect, it } from 'vitest';
import { change } from '../../../test/kit/faulty-store.ts';
import { rpc, say } from '../../../test/kit/rpc.ts';
import { serve } from '../../../test/kit/serve.ts';
import { eventually } from '../../../test/kit/until.ts';
import { webhook } from '../../server/test/webhooks/kit/webhook.ts';
import { observed } from './observed.ts';

const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
const canary = 'canary-7f3a';
/** Names that an agent or a client chooses, and that are recorded as such. */
const chosen = 'chosen-9b1e';
/** What agents throw may have content in all members. */
const thrown = ['reason', 'code', 'name'].map((member) =>
  Object.assign(new Error(canary), { name: '', [member]: `IBAN of ${canary}` }),
);

describe('what is recorded', () => {
  it('never holds content, metadata, credentials or addresses of webhooks [R-OTEL-30] [R-OTEL-63]', async () => {
    const { providers, spans, metrics, ended } = observed();
    const hook = await webhook((_got, before) => (before === 0 ? 500 : 200));
    const server = serve(
      async function* ({ text: said, step }) {
        yield working(`${canary} status`);
        await step(chosen, () => `${canary} result`);
        for (const [at, error] of thrown.entries())
          await step(`fails ${at}`, () => Promise.reject(error)).catch(() => {});
        yield artifact(`${canary} artifact`, text(canary), data({ [canary]: canary }));
        if (said.includes('throw')) throw thrown[Number(said.at(-1))];
        if (said.includes('fail')) return yield failed({ code: 'X', message: canary });
        if (said.includes('ask')) return yield inputRequired(canary);
        yield completed(canary);
      },
      {
        telemetry: telemetry(providers),
        authenticate: () => ({ scope: canary, claims: { name: canary }, scopes: [canary] }),
        push: { allow: ['127.0.0.1'], retry: { baseDelayMs: 1, maxDelayMs: 1 } },
        store: memoryStore(),
      },
    );
    const agent = await connect('http://localhost', {
      fetch: server.fetch,
      telemetry: clientTelemetry(providers),
      headers: { authorization: `Bearer ${canary}` },
    });
    for (const said of ['', 'throw 0', 'throw 1', 'throw 2', 'fail', 'ask']) {
      const parts = [{ text: `${canary} ${said}`, filename: canary, metadata: { [canary]: canary } }];
      const request = {
        message: say(parts, { metadata: { [canary]: canary } }),
        metadata: { [canary]: canary },
        configuration: {
          taskPushNotificationConfig: {
            id: chosen,
            url: `${hook.url(`/${canary}`)}?token=${canary}`,
            token: canary,
            authentication: { scheme: 'Bearer', credentials: canary },
          },
        },
      };
      await agent.sendMessage(request);
      for await (const _ of agent.sendStreamingMessage({ ...request, message: say(parts) }));
    }
    await agent.listTasks();
    await ended('baton.turn', 12);
    await ended('baton.push', 2);
    const exported = JSON.stringify([
      spans().map(({ name, attributes, events, links, status }) => ({
        name,
        attributes,
        events,
        links,
        status,
      })),
      await metrics(),
    ]);
    expect(spans().length).toBeGreaterThan(30);
    expect(exported).not.toContain(canary);
    const recorded = spans().flatMap(({ attributes }) => Object.entries(attributes));
    const having = recorded.filter(([, value]) => String(value).includes(chosen)).map(([name]) => name);
    expect(new Set(having)).toEqual(new Set(['baton.step.name', 'baton.push.config_id']));
  });

  it('is no baggage: what a request brings is in no fact and reaches no webhook [R-OTEL-32]', async () => {
    const { providers, ended } = observed();
    const hook = await webhook(() => 200);
    const facts: unknown[] = [];
    const store = change(memoryStore(), {
      commit: (commit) => (given) => {
        facts.push(...given.facts);
        return commit(given);
      },
    });
    const server = serve(
      async function* () {
        yield completed();
      },
      { store, telemetry: telemetry(providers), push: { allow: ['127.0.0.1'] } },
    );
    await rpc(
      server,
      'SendMessage',
      {
        message: say('go'),
        configuration: { taskPushNotificationConfig: { url: hook.url('/x'), id: 'h' } },
      },
      { baggage: `user=${canary}`, traceparent, tracestate: `vendor=${canary}` },
    );
    await ended('baton.push');
    expect(JSON.stringify(facts)).toContain('"traceparent":"00-aaaa');
    expect(JSON.stringify(facts)).not.toContain(canary);
    const [{ headers }] = hook.received as [(typeof hook.received)[number]];
    expect(headers).toHaveProperty('traceparent');
    expect(JSON.stringify(headers)).not.toContain(canary);
  });
});

describe('a delivery to a webhook', () => {
  it('is a span that links to the request, whose trace the webhook can continue [R-OTEL-54]', async () => {
    const { providers, ended, metrics } = observed();
    const hook = await webhook((_got, before) => (before === 0 ? 503 : 200));
    const server = serve(
      async function* () {
        yield completed();
      },
      {
        telemetry: telemetry(providers),
        push: { allow: ['127.0.0.1'], retry: { baseDelayMs: 1, maxDelayMs: 1 } },
      },
    );
    await rpc(server, 'SendMessage', {
      message: say('go'),
      configuration: { taskPushNotificationConfig: { url: `${hook.url('/x')}?token=s`, id: 'h' } },
    });
    await eventually(async () => {
      const all = await metrics();
      const outcomes = all
        .filter(({ name }) => name === 'baton.push.deliveries')
        .map(({ attributes, value }) => [attributes['baton.push.outcome'], value]);
      if (!outcomes.some(([outcome, value]) => outcome === 'delivered' && Number(value) >= 1))
        throw new Error(JSON.stringify(outcomes));
      expect(outcomes).toContainEqual(['failed', 1]);
    });
    const [request] = await ended('SendMessage');
    const [failedOne, delivered] = await ended('baton.push', 2);
    expect(failedOne!.status.code).toBe(SpanStatusCode.ERROR);
    expect(failedOne!.attributes).toMatchObject({
      'error.type': '503',
      'http.response.status_code': 503,
      'baton.push.config_id': 'h',
      'baton.push.outcome': 'failed',
      'baton.attempt': 1,
      'server.address': '127.0.0.1',
    });
    expect(delivered!.attributes).toMatchObject({
      'baton.attempt': 2,
      'baton.push.outcome': 'delivered',
      'http.response.status_code': 200,
    });
    for (const span of [failedOne!, delivered!])
      expect(span.links.map(({ context }) => context.spanId)).toEqual([request!.spanContext().spanId]);
    const { traceId, spanId } = delivered!.spanContext();
    expect(hook.received[1]!.headers.traceparent).toBe(`00-${traceId}-${spanId}-01`);
    expect(JSON.stringify([failedOne!.attributes, delivered!.attributes])).not.toContain('token');
  });

  it('that the server hands back because it closes is no failure [R-OTEL-54]', async () => {
    const { providers, ended, metrics } = observed();
    const arrived = Promise.withResolvers<void>();
    const hook = await webhook(() => () => arrived.resolve());
    const server = serve(
      async function* () {
        yield completed();
      },
      { telemetry: telemetry(providers), push: { allow: ['127.0.0.1'] } },
    );
    await rpc(server, 'SendMessage', {
      message: say('go'),
      configuration: { taskPushNotificationConfig: { url: hook.url('/x'), id: 'h' } },
    });
    await arrived.promise;
    await server.close({ graceMs: 0 });
    const [span] = await ended('baton.push');
    expect(span!.status.code).toBe(SpanStatusCode.UNSET);
    expect(span!.attributes).toMatchObject({ 'baton.push.outcome': 'handed_back' });
    expect(span!.attributes).not.toHaveProperty('error.type');
    const deliveries = (await metrics()).filter(({ name }) => name === 'baton.push.deliveries');
    expect(deliveries).toEqual([
      { name: 'baton.push.deliveries', attributes: { 'baton.push.outcome': 'handed_back' }, value: 1 },
    ]);
  });
});
