import { type Agent, artifact, completed, inputRequired, text, working } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { telemetry } from '@batonjs/telemetry';
import { metrics } from '@opentelemetry/api';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { describe, expect, it } from 'vitest';
import { rpc, say } from '../../../test/kit/rpc.ts';
import { serve } from '../../../test/kit/serve.ts';
import { instrumentsOf } from '../src/metrics/registry.ts';
import { observed } from './observed.ts';

describe('metrics', () => {
  it('count tasks, turns and requests, with few values of their attributes [R-OTEL-61]', async () => {
    const { providers, metrics, ended } = observed();
    const held = Promise.withResolvers<void>();
    const server = serve(
      async function* ({ text: said }) {
        yield working();
        if (said === 'wait') await held.promise;
        yield artifact('a', text('x'));
        yield completed();
      },
      { telemetry: telemetry(providers) },
    );
    const now = { returnImmediately: true };
    await rpc(server, 'SendMessage', { message: say('go') });
    await rpc(server, 'SendMessage', { message: say('wait'), configuration: now });
    const done = { 'a2a.task.state': 'TASK_STATE_COMPLETED' };
    const tasks = async () =>
      (await metrics()).filter(({ name }) => /^baton\.tasks\.(created|ended)$/.test(name));
    expect(await tasks()).toEqual([
      { name: 'baton.tasks.created', attributes: {}, value: 2 },
      { name: 'baton.tasks.ended', attributes: done, value: 1 },
    ]);
    held.resolve();
    await ended('baton.turn', 2);
    const all = await metrics();
    expect(all).toContainEqual({ name: 'baton.tasks.ended', attributes: done, value: 2 });
    expect(all).toContainEqual({
      name: 'baton.server.request.duration',
      attributes: { 'a2a.method.name': 'SendMessage', 'baton.binding': 'JSONRPC' },
      value: 2,
    });
    expect(all).toContainEqual({
      name: 'baton.turn.duration',
      attributes: { 'baton.turn.cause': 'message', 'a2a.task.state': 'TASK_STATE_COMPLETED' },
      value: 2,
    });
    const named = new Set(all.flatMap(({ attributes }) => Object.keys(attributes)));
    for (const id of ['a2a.task.id', 'gen_ai.conversation.id', 'a2a.message.id'])
      expect(named).not.toContain(id);
  });

  it('never go back where one process creates a task and another, later, ends it [R-OTEL-61]', async () => {
    const [before, after] = [observed(), observed()];
    const store = memoryStore();
    const agent: Agent = async function* ({ text: said }) {
      yield said === 'go' ? inputRequired('How many?') : completed();
    };
    const first = serve(agent, { store, telemetry: telemetry(before.providers) });
    const { task } = await rpc(first, 'SendMessage', { message: say('go') });
    await first.close();
    const second = serve(agent, { store, telemetry: telemetry(after.providers) });
    await rpc(second, 'SendMessage', { message: say('two', { taskId: task.id }) });
    const tasks = async ({ metrics }: typeof before) =>
      (await metrics()).filter(({ name }) => /^baton\.tasks\.(created|ended)$/.test(name));
    expect(await tasks(before)).toEqual([{ name: 'baton.tasks.created', attributes: {}, value: 1 }]);
    const ended = { 'a2a.task.state': 'TASK_STATE_COMPLETED' };
    expect(await tasks(after)).toEqual([{ name: 'baton.tasks.ended', attributes: ended, value: 1 }]);
  });
});

it('finds its instruments again when an SDK is started after it', () => {
  const instruments = instrumentsOf(undefined, undefined, () => {});
  const before = instruments();
  expect(instruments()).toBe(before);
  metrics.setGlobalMeterProvider(new MeterProvider());
  // At once: nothing else of this process sees the provider.
  const after = instruments();
  metrics.disable();
  expect(after).not.toBe(before);
});
