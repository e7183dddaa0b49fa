import { answer, dataOf, textOf } from '@batonjs/client';
import { extend, FORM_INPUT, formInput } from '@batonjs/extensions';
import { formOf } from '@batonjs/extensions/client';
import type { Agent, AgentServer } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it } from 'vitest';
import { until } from '../../../../test/kit/until.ts';
import { look, submit } from '../../../server/test/callbacks/asking-agent.ts';
import type { ModelAnswer, ModelRequest } from '../openai-server.ts';
import { start } from '../served-agent.ts';

const visit = { id: 'call-1', name: 'visit', input: { place: 'Oulu' } };
const weather = { id: 'call-2', name: 'weather', input: { place: 'Oulu' } };

/** Calls tools first, and ends with what the tools gave. */
const using =
  (...calls: (typeof visit)[]) =>
  (_: ModelRequest, number: number): ModelAnswer =>
    number === 1 ? { calls } : { text: ['Done'] };

const toolsIn = ({ messages }: ModelRequest) =>
  messages.flatMap(({ role, tool_call_id, content }) => (role === 'tool' ? [[tool_call_id, content]] : []));

it('a text that goes on after a question ends with the whole of it, where that is wanted', async () => {
  const { client } = await start(
    (_, number) => (number === 1 ? { text: ['One'], calls: [visit] } : { text: ['Two'] }),
    { whole: true },
  );
  const { task } = await client.send('go');
  const stream = client.stream('Yes', { task: task! });
  const chunks: unknown[] = [];
  for await (const { artifactUpdate } of stream)
    if (artifactUpdate?.lastChunk)
      chunks.push([artifactUpdate.append ?? false, textOf(artifactUpdate.artifact)]);
  expect(chunks).toEqual([[false, 'One\n\nTwo']]);
  expect(textOf(stream.task?.artifacts?.[0])).toBe('One\n\nTwo');
});

describe('a tool that needs an approval', () => {
  it('becomes a question, with the call as data, and does not run', async () => {
    const { client, visits } = await start(using(visit));
    const { task } = await client.send('go');
    expect(task?.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(textOf(task?.status.message)).toBe('May the tool "visit" run with {"place":"Oulu"}?');
    expect(dataOf(task?.status.message)).toEqual({
      toolCalls: [{ toolCallId: 'call-1', toolName: 'visit', input: { place: 'Oulu' }, needs: 'approval' }],
    });
    expect(visits).toEqual([]);
  });

  it.each([
    ['a text', 'Yes'],
    ['data', { data: { approved: true } }],
    ['data about the call', { data: { 'call-1': true } }],
  ])('runs after a yes in %s, with the calls before it remembered', async (_how, yes) => {
    const { client, visits, models } = await start((request, n) =>
      n === 1 ? { calls: [weather] } : n === 2 ? { calls: [visit] } : using()(request, n),
    );
    const { task } = await client.send('go');
    const { task: done } = await client.send(yes, { task: task! });
    expect(done?.status.state).toBe('TASK_STATE_COMPLETED');
    expect(textOf(done?.artifacts?.[0])).toBe('Done');
    expect(visits).toEqual(['Oulu']);
    expect(toolsIn(models.requests[2]!)).toEqual([
      ['call-2', '{"place":"Oulu","degrees":7}'],
      ['call-1', 'At Oulu'],
    ]);
  });

  it.each([
    ['a no', 'no', undefined],
    ['a no with a reason', 'No, only tomorrow', 'only tomorrow'],
    ['data with a reason', { data: { 'call-1': { approved: false, reason: 'Too far' } } }, 'Too far'],
  ])('does not run after %s', async (_how, no, reason) => {
    const { client, visits, models } = await start(using(visit));
    const { task } = await client.send('go');
    const { task: done } = await client.send(no, { task: task! });
    expect(done?.status.state).toBe('TASK_STATE_COMPLETED');
    expect(visits).toEqual([]);
    const [[, told]] = toolsIn(models.requests[1]!) as [[string, string]];
    expect(told).toMatch(reason ?? /denied/i);
  });

  it.each([
    ['a yes with a condition', 'Yes, but only tomorrow'],
    ['another language', 'ja'],
    ['a yes that is no boolean', { data: { 'call-1': 'true' } }],
    ['a decision that is no boolean', { data: { 'call-1': { approved: 'no' } } }],
    ['an answer about another call', { data: { 'call-9': true } }],
  ])('is asked about again after %s, until the user decides', async (_how, unclear) => {
    const { client, visits, models } = await start(using(visit));
    const { task } = await client.send('go');
    const { task: again } = await client.send(unclear, { task: task! });
    expect(again?.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(textOf(again?.status.message)).toMatch(/^Please answer yes or no\.\nMay the tool "visit" run/);
    expect(dataOf(again?.status.message)).toEqual(dataOf(task?.status.message));
    expect([visits, models.requests.length]).toEqual([[], 1]);
    const { task: done } = await client.send({ data: { 'call-1': null } }, { task: again! });
    expect(done?.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    await client.send('Yes, please go ahead.', { task: done! });
    expect(visits).toEqual(['Oulu']);
  });

  it('shows buttons to a person with a link, whatever its client knows, and takes them for the answer', async () => {
    const { client, server, visits } = await start(using(visit), {}, (agent) => ({
      agent,
      callbacks: true,
      publicUrl: 'http://localhost',
    }));
    const { task } = await client.send('go');
    expect(formOf(task!)).toBeUndefined();
    const { url } = await server.answerLink(task!.id, { answeredBy: 'Ana', expiresMs: 60_000 });
    const page = await look(server, url);
    expect(page.text).toContain('<legend>Allow &quot;visit&quot;</legend>');
    expect(page.text).not.toContain('<textarea');
    expect((await submit(server, url, page, { 'field-0': '0' })).text).toContain('Thank you');
    await until(server, task!.id, 'COMPLETED');
    expect(visits).toEqual(['Oulu']);
  });

  it('is asked about together with the others, and each decision counts for its call', async () => {
    const other = { ...visit, id: 'call-3', input: { place: 'Turku' } };
    const { client, visits } = await start(using(visit, weather, other));
    const { task } = await client.send('go');
    expect(textOf(task?.status.message).split('\n')).toHaveLength(2);
    await client.send({ data: { 'call-1': false, 'call-3': true } }, { task: task! });
    expect(visits).toEqual(['Turku']);
  });

  it('is asked about with a form where the client takes forms', async () => {
    const card = { name: 'Test', description: 'Answers' };
    const { connectWith, visits } = await start(using(visit), {}, (agent) =>
      extend({ card, agent }, formInput),
    );
    const client = await connectWith({ extensions: [FORM_INPUT] });
    const { task } = await client.send('go');
    expect(formOf(task!)?.schema).toMatchObject({ required: ['call-1'] });
    const { task: again } = await client.send(answer(task!, { 'call-1': 'maybe' }));
    expect(again?.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    const { task: done } = await client.send(answer(again!, { 'call-1': true }));
    expect(done?.status.state).toBe('TASK_STATE_COMPLETED');
    expect(visits).toEqual(['Oulu']);
  });
});

it('a tool without `execute` is run by the client, which answers with what it gives', async () => {
  const ask = { id: 'call-1', name: 'ask', input: { place: 'Oulu' } };
  const { client, models } = await start(using(ask, weather));
  const { task } = await client.send('go');
  expect(dataOf(task?.status.message)).toMatchObject({ toolCalls: [{ needs: 'output', toolName: 'ask' }] });
  await client.send({ data: { 'call-1': { rooms: 3 } } }, { task: task! });
  expect(toolsIn(models.requests[1]!)).toEqual([
    ['call-2', '{"place":"Oulu","degrees":7}'],
    ['call-1', '{"rooms":3}'],
  ]);
});

describe('what a question keeps for the next turn', () => {
  const canary = 'canary-of-the-model';
  const look = { ...weather, input: { place: canary } };
  const ask = { id: 'call-3', name: 'ask', input: { place: 'Turku' } };
  const calling = (_: ModelRequest, n: number): ModelAnswer =>
    n === 1 ? { reasoning: canary, calls: [look] } : { calls: [visit, ask] };

  it('is read in another process, and no client sees it', async () => {
    const store = memoryStore();
    const onStore = (agent: Agent) => ({ agent, store });
    const first = await start(calling, {}, onStore);
    const seen: string[] = [];
    const recording = (server: AgentServer) => async (request: Request) => {
      const response = await server.fetch(request);
      const [own, other] = response.body?.tee() ?? [];
      if (other) seen.push(await new Response(other).text());
      return new Response(own, response);
    };
    const client = await first.connectWith({ fetch: recording(first.server) });
    const { task } = await client.send('go');
    await client.getTask({ id: task!.id });
    await client.listTasks({ includeArtifacts: true, historyLength: 100 });
    await first.server.close();

    const second = await start(() => ({ text: ['Done'] }), {}, onStore);
    const again = await second.connectWith({ fetch: recording(second.server) });
    const answers = { data: { 'call-1': true, 'call-3': { rooms: 3 } } };
    const { task: done } = await again.send(answers, { task: task! });
    await again.getTask({ id: task!.id });
    expect([task?.status.state, done?.status.state]).toEqual([
      'TASK_STATE_INPUT_REQUIRED',
      'TASK_STATE_COMPLETED',
    ]);
    expect([first.visits, second.visits]).toEqual([[], ['Oulu']]);
    expect(toolsIn(second.models.requests[0]!).toSorted()).toEqual([
      ['call-1', 'At Oulu'],
      ['call-2', `{"place":"${canary}","degrees":7}`],
      ['call-3', '{"rooms":3}'],
    ]);
    expect(seen.join('\n')).toContain('May the tool');
    expect(seen.join('\n')).not.toMatch(/canary|degrees/);
  });

  it('fails the task where it is more than the server allows', async () => {
    const limits = { memoryBytes: 100 };
    const { client, visits } = await start(calling, {}, (agent) => ({ agent, limits }));
    const { task } = await client.send('go');
    expect(task?.status.state).toBe('TASK_STATE_FAILED');
    expect(visits).toEqual([]);
  });
});
