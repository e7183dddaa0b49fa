import { type Agent, completed } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { telemetry } from '@batonjs/telemetry';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { rpc, say } from '../../../test/kit/rpc.ts';
import { serve } from '../../../test/kit/serve.ts';
import { observed } from './observed.ts';

/** Lines as pino writes them. */
function lines() {
  const written: Record<string, unknown>[] = [];
  const logger = pino(
    { base: undefined, timestamp: false },
    { write: (line) => written.push(JSON.parse(line)) },
  );
  return { written, logger };
}

it('a line of pino about a request has its id and its trace, and one about a turn its task and its trace', async () => {
  const { providers, ended } = observed();
  const { written, logger } = lines();
  const agent: Agent = async function* ({ text }) {
    if (text === 'fail') throw new Error('out of paper');
    yield completed();
  };
  const store = memoryStore();
  const broken = { ...store, list: () => Promise.reject(new Error('no such page')) };
  const server = serve(agent, { store: broken, logger, telemetry: telemetry(providers) });
  const traceparent = '00-0123456789abcdef0123456789abcdef-0123456789abcdef-01';
  const headers = { traceparent, 'x-request-id': 'req-1' };
  const { task } = await rpc(server, 'SendMessage', { message: say('fail') }, headers);
  await rpc(server, 'ListTasks', {}, headers).catch(() => {});
  const [turn] = await ended('baton.turn');
  const [list] = await ended('ListTasks');
  const traceId = '0123456789abcdef0123456789abcdef';
  expect(written).toMatchObject([
    {
      msg: 'An agent failed',
      taskId: task.id,
      requestId: 'req-1',
      traceId,
      spanId: turn!.spanContext().spanId,
      err: { message: 'out of paper' },
    },
    {
      msg: 'A request failed',
      requestId: 'req-1',
      operation: 'ListTasks',
      traceId,
      spanId: list!.spanContext().spanId,
      err: { message: 'no such page' },
    },
  ]);
});

it('a line of pino about a request has an id without telemetry too, which the answer names', async () => {
  const { written, logger } = lines();
  const broken = { ...memoryStore(), list: () => Promise.reject(new Error('no such page')) };
  const server = serve(() => Promise.reject(), { store: broken, logger });
  const response = await server.fetch(
    new Request('http://localhost/tasks', { headers: { 'a2a-version': '1.0' } }),
  );
  const requestId = response.headers.get('x-request-id');
  expect(requestId).toMatch(/^[\da-f-]{36}$/);
  expect(written).toEqual([expect.objectContaining({ msg: 'A request failed', requestId })]);
  expect(written[0]).not.toHaveProperty('traceId');
});
