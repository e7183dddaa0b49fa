import { text } from 'node:stream/consumers';
import { streamedAgent } from '@batonjs/ai-sdk';
import { telemetry } from '@batonjs/telemetry';
import { streamText } from 'ai';
import { expect, it } from 'vitest';
import { modelAt } from '../../packages/ai-sdk/test/openai-server.ts';
import { observed } from '../../packages/telemetry/test/observed.ts';
import { listen } from '../kit/listen.ts';
import { rpc, say } from '../kit/rpc.ts';
import { serve } from '../kit/serve.ts';
import { canaries } from './canaries.ts';

it.each([
  ['refuses the key', 401, 'Incorrect API key provided'],
  ['breaks', 500, 'It broke'],
  ['answers nonsense', 200, 'nonsense'],
])('the key of a model that %s leaves neither in answers nor in logs', async (_, status, message) => {
  const secrets = canaries();
  const { providers, spans, metrics } = observed();
  const baseURL = await listen(async (request, response) => {
    await text(request);
    secrets.arrive(JSON.stringify(request.headers));
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: { message, type: 'invalid_request_error' } }));
  });
  const apiKey = secrets.plant('the key');
  const local = modelAt(baseURL, { apiKey });
  const log: unknown[] = [];
  const agent = streamedAgent(
    ({ messages, signal, model }) =>
      streamText({ model: model(local), messages, abortSignal: signal, maxRetries: 0, onError() {} }),
    { onError: (error) => void log.push(error) },
  );
  const server = serve(agent, {
    telemetry: telemetry(providers),
    logger: (...line) => void log.push(line),
  });
  const { task } = await rpc(server, 'SendMessage', { message: say('Hello') });
  expect(task.status.state).toBe('TASK_STATE_FAILED');
  secrets.leave('the task', task);
  expect(log).not.toEqual([]);
  secrets.leave('the log', log);
  for (const { name, attributes, events, status: ended } of spans())
    secrets.leave('a span', { name, attributes, events, ended });
  secrets.leave('metrics', await metrics());
  secrets.check();
});
