import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { v03 } from '@batonjs/bindings-v0-3';
import { connect } from '@batonjs/client';
import { type InspectorOptions, inspector } from '@batonjs/inspector';
import { nodeHandler } from '@batonjs/server-node';
import { memoryStore } from '@batonjs/store-memory';
import { telemetry } from '@batonjs/telemetry';
import { describe, expect, it, onTestFinished } from 'vitest';
import { scriptedModel, text } from '../../packages/ai-sdk/test/scripted-model.ts';
import { agentOn } from '../../packages/ai-sdk/test/served-agent.ts';
import { observed } from '../../packages/telemetry/test/observed.ts';
import { listen } from '../kit/listen.ts';
import { rpc, say } from '../kit/rpc.ts';
import { scope } from '../kit/scope.ts';
import { serve } from '../kit/serve.ts';
import { canaries } from './canaries.ts';

const token = 'the-token-of-the-inspector';
const modelPrices = { currency: 'USD', models: { 'mock-model-id': { input: 1, output: 1 } } };

/** An agent whose instructions are a secret, and all that leaves it while a task is done and looked at. */
async function instructed(keepPrompts: boolean, options: Partial<InspectorOptions>) {
  const secrets = canaries();
  const instructions = secrets.plant('prompt');
  const hooks: unknown[] = [];
  const hookUrl = await listen(async (request, response) => {
    hooks.push(await json(request));
    response.writeHead(204).end();
  });
  const { providers, spans, metrics } = observed();
  const store = memoryStore();
  const model = scriptedModel(text('Cold'), text('Cold'));
  const server = serve(agentOn(model, {}, { keepPrompts }, { instructions }), {
    card: { name: 'Test', description: 'Answers' },
    store,
    push: { allow: ['127.0.0.1:*'] },
    compatibility: [v03()],
    telemetry: telemetry(providers),
    logger: (...line) => secrets.leave('the log', line),
  });
  const url = await listen(createServer(nodeHandler(server)));
  const inspect = inspector({ name: 'agent', server, url, token, ...options });
  onTestFinished(() => inspect.close());
  const inspectorUrl = await listen(createServer(inspect));

  const client = await connect(url);
  const taskPushNotificationConfig = { url: hookUrl };
  const stream = client.stream('Oulu?', { configuration: { taskPushNotificationConfig } });
  for await (const event of stream) secrets.leave('a stream', event);
  const { id } = stream.task!;
  const { task } = await rpc(server, 'SendMessage', { message: say('Rome?') });
  secrets.leave('an answer', task);
  secrets.arrive(JSON.stringify(model.doStreamCalls.map(({ prompt }) => prompt)));
  secrets.leave('a task', await client.getTask({ id, historyLength: 100 }));
  secrets.leave('a list', await client.listTasks({ includeArtifacts: true }));
  const older = { jsonrpc: '2.0', id: 1, method: 'tasks/get', params: { id } };
  for (const [path, body] of [[`/tasks/${id}`], ['/tasks'], ['/', JSON.stringify(older)]]) {
    const headers = { 'content-type': 'application/json', 'a2a-version': body ? '0.3' : '1.0' };
    const response = await fetch(url + path, body ? { method: 'POST', headers, body } : { headers });
    expect(response.status).toBe(200);
    secrets.leave(`${path}`, await response.text());
  }
  await expect.poll(() => JSON.stringify(hooks)).toContain('COMPLETED');
  secrets.leave('a webhook', hooks);
  for (const { name, attributes, events } of spans()) secrets.leave('a span', { name, attributes, events });
  secrets.leave('metrics', await metrics());

  const api = `${inspectorUrl}/api/agents/agent`;
  const headers = { authorization: `Bearer ${token}` };
  for (const path of [`/tasks/${id}`, '/tasks'])
    secrets.leave('other pages of the inspector', await (await fetch(api + path, { headers })).text());
  const gone = new AbortController();
  const { body } = await fetch(`${api}/tasks/${id}/timeline`, { headers, signal: gone.signal });
  let timeline = '';
  for await (const chunk of body!.pipeThrough(new TextDecoderStream())) {
    timeline += chunk;
    if (timeline.includes('"type":"live"')) break;
  }
  gone.abort();
  secrets.leave('the timeline', timeline);
  const facts = await store.readFacts(scope, id, 0, 100);
  secrets.leave('the store', JSON.stringify(facts));
  return { secrets, timeline };
}

describe('what a model is asked', () => {
  it('is nowhere but at the model, if the agent keeps no prompts', async () => {
    const { secrets, timeline } = await instructed(false, { allow: ['read-prompts'], modelPrices });
    secrets.check();
    expect(timeline).toContain('"answer":"Cold"');
  });

  it('is in the log only, if the agent keeps it and the viewer may not read it; costs are seen', async () => {
    const { secrets, timeline } = await instructed(true, { allow: ['send'], modelPrices });
    secrets.check(['prompt in the store']);
    expect(timeline).toContain('"kind":"model"');
    expect(timeline).toContain('"cost":0.000002');
    // The artifact has the answer; the step of the model shows nothing of it.
    expect(timeline).not.toContain('"delta"');
  });

  it('is shown in the timeline to a viewer who may read it, and nowhere else', async () => {
    const { secrets, timeline } = await instructed(true, { allow: ['read-prompts'], modelPrices });
    secrets.check(['prompt in the store', 'prompt in the timeline']);
    expect(timeline).toContain('"cost":0.000002');
  });

  it('is shown to the viewers whom `authenticate` lets read it, for the agents that `may` names', async () => {
    const asked: unknown[] = [];
    const may = (action: string, target: object) => {
      asked.push([action, Object.keys(target)]);
      return action === 'read-prompts';
    };
    const { secrets } = await instructed(true, { token: undefined as never, authenticate: () => ({ may }) });
    secrets.check(['prompt in the store', 'prompt in the timeline']);
    expect(asked).toContainEqual(['read-prompts', ['agent', 'taskId']]);
  });
});
