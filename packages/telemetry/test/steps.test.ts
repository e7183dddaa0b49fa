import { completed } from '@batonjs/server';
import { telemetry } from '@batonjs/telemetry';
import { SpanStatusCode, trace } from '@opentelemetry/api';
import { describe, expect, it } from 'vitest';
import { rpc, say } from '../../../test/kit/rpc.ts';
import { serve } from '../../../test/kit/serve.ts';
import { observed } from './observed.ts';

const spanId = () => trace.getActiveSpan()?.spanContext().spanId;

describe('a step', () => {
  /** As query builders are: its query begins with the call of `then`. */
  const lazy = (query: () => Promise<unknown>): PromiseLike<string> => ({
    // biome-ignore lint/suspicious/noThenProperty: that is what is tested
    then: (resolve, reject) => query().then(resolve as never, reject),
  });

  it('that returns a lazy query lasts until the query ends, which runs in its context [R-OTEL-53]', async () => {
    const { providers, ended, spans } = observed();
    const seen: (string | undefined)[] = [];
    const done = Promise.withResolvers<string>();
    const began = Promise.withResolvers<void>();
    const server = serve(
      async function* ({ step }) {
        const result = step(
          'query',
          () =>
            lazy(() => {
              seen.push(spanId());
              began.resolve();
              return done.promise;
            }) as Promise<string>,
        );
        await began.promise;
        expect(spans('baton.step')).toEqual([]);
        done.resolve('row');
        yield completed(await result);
      },
      { telemetry: telemetry(providers) },
    );
    const { task } = await rpc(server, 'SendMessage', { message: say('go') });
    expect(task.status.message.parts).toEqual([{ text: 'row' }]);
    const [span] = await ended('baton.step');
    expect(seen).toEqual([span!.spanContext().spanId]);
  });

  it('whose lazy query fails has the kind of the error [R-OTEL-05]', async () => {
    const { providers, ended } = observed();
    const server = serve(
      async function* ({ step }) {
        await step('query', () => lazy(() => Promise.reject(new RangeError('x'))) as Promise<string>);
        yield completed();
      },
      { telemetry: telemetry(providers) },
    );
    await rpc(server, 'SendMessage', { message: say('go') });
    const [span] = await ended('baton.step');
    expect(span!.status.code).toBe(SpanStatusCode.ERROR);
    expect(span!.attributes['error.type']).toBe('RangeError');
  });
});

it('calls of models are counted once, by model and currency, and models after the first 50 together', async () => {
  const { providers, metrics } = observed();
  const server = serve(
    async function* (turn) {
      const used = { model: 'm1', inputTokens: 7, outputTokens: 3, cost: 0.25, currency: 'USD' };
      await turn.step('ask', { usage: () => used }, () => 'well');
      for (let n = 1; n < 53; n++) await turn.usage(`${n}`, { model: `m${n}`, outputTokens: 1 });
      if (turn.attempt < 3) throw new Error('Again');
      yield completed();
    },
    {
      ...{ telemetry: telemetry(providers), restart: 'rerun' },
      retry: { retries: 2, backoff: { initialMs: 1 } },
    },
  );
  await rpc(server, 'SendMessage', { message: say('go') });
  const measured = await metrics();
  const of = (name: string) =>
    Object.fromEntries(
      measured
        .filter((one) => one.name === name)
        .map(({ attributes, value }) => [Object.values(attributes).join(' '), value]),
    );
  expect(of('baton.model.cost')).toEqual({ 'm1 USD': 0.25 });
  const tokens = of('baton.model.tokens');
  expect(tokens).toMatchObject({ 'm1 input': 7, 'm1 output': 4, 'm50 output': 1, 'other output': 2 });
  expect(Object.keys(tokens)).toHaveLength(2 * 51);
});
