import { connect, textOf } from '@batonjs/client';
import { type CallingTurn, nestedTasks } from '@batonjs/nested-tasks';
import { type Agent, artifact, completed, inputRequired } from '@batonjs/server';
import { streamText, type ToolApprovalStatus } from 'ai';
import { describe, expect, it, onTestFinished } from 'vitest';
import { serve } from '../../../../test/kit/serve.ts';
import { until } from '../../../../test/kit/until.ts';
import { AI_SDK, a2aTools, type StreamedAgentOptions, streamedAgent } from '../../src/index.ts';
import { type ModelAnswer, type ModelRequest, modelAt, serveModel } from '../openai-server.ts';
import { toolsFor } from '../served-agent.ts';

/** Asks as often as its first message says, and ends with all that it was answered. */
const hotels: Agent = async function* ({ messages, text }) {
  const said = messages.filter(({ role }) => role === 'ROLE_USER').map(textOf);
  if (text === 'wait') await new Promise(() => {});
  if (said.length <= Number(said[0])) return yield inputRequired(`Question ${said.length}`);
  yield artifact('room', `Room for ${said.join(', ')}`);
  yield completed();
};

/** Decides whether a tool may run. */
type Policy = (tool: string) => Promise<NonNullable<ToolApprovalStatus>>;

/** A parent with a model that has the hotels and local tools, until the test ends. */
async function start(
  answer: (request: ModelRequest, number: number) => ModelAnswer,
  options: StreamedAgentOptions = {},
  child: Agent = hotels,
  policy: Policy = async (tool) => (tool === 'visit' ? 'user-approval' : 'approved'),
) {
  const models = await serveModel(answer);
  onTestFinished(() => models[Symbol.asyncDispose]());
  const visits: string[] = [];
  const agents = { hotels: serve(child, { timeouts: { cancelGraceMs: 0 } }) };
  const { agent, ...parent } = nestedTasks({
    card: { name: 'Parent', description: 'Has tools' },
    agents,
    agent: streamedAgent<CallingTurn>(
      async ({ messages, signal, model, tools, turn }) =>
        streamText({
          model: model(modelAt(models.url)),
          messages,
          abortSignal: signal,
          tools: tools({ ...toolsFor(visits), ...(await a2aTools(agents, { turn })) }),
          toolApproval: ({ toolCall }) =>
            turn.step(`may ${toolCall.toolCallId}`, { keep: 'task' }, () => policy(toolCall.toolName)),
          stopWhen: ({ steps }) => steps.length === 4,
          maxRetries: 0,
          onError() {},
        }),
      options,
    ),
  });
  const retry = { retries: 1, backoff: { initialMs: 1 } };
  const server = serve(agent, { timeouts: { cancelGraceMs: 5_000 }, retry, ...parent });
  const client = await connect('http://localhost', { fetch: (request) => server.fetch(request) });
  const childClient = await connect('http://localhost', { fetch: (request) => agents.hotels.fetch(request) });
  return { client, models, visits, hotels: agents.hotels, childClient };
}

const book = (message: string, id = 'call-1') => ({ id, name: 'hotels', input: { message } });

const toolsIn = ({ messages }: ModelRequest) =>
  messages.flatMap(({ role, tool_call_id, content }) => (role === 'tool' ? [[tool_call_id, content]] : []));

it('runs its tools, and other agents, by decisions that are taken once, however often its turn runs', async () => {
  const decided: string[] = [];
  const reason = 'It is never deleted';
  const { client, models, visits } = await start(
    (_, n) =>
      n === 1
        ? {
            calls: [
              book('0', 'call-1'),
              ...['visit', 'note'].map((name) => ({ id: name, name, input: { place: 'Oulu' } })),
            ],
          }
        : { text: ['Done'] },
    {
      onError(error) {
        throw error;
      },
    },
    hotels,
    async (tool) => {
      decided.push(tool);
      if (tool === 'visit') return 'user-approval';
      if (tool === 'hotels') return 'approved';
      // The process of the first attempt ends here.
      if (decided.filter((name) => name === tool).length === 1) throw new Error('Dies');
      return { type: 'denied', reason };
    },
  );
  const { task } = await client.send('go');
  expect(task?.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
  const { task: done } = await client.send('yes', { task: task! });
  expect(done?.status.state).toBe('TASK_STATE_COMPLETED');
  expect(visits).toEqual(['Oulu']);
  expect(decided.sort()).toEqual(['hotels', 'note', 'note', 'visit']);
  const results = new Map(toolsIn(models.requests.at(-1)!) as [string, string][]);
  expect(results.get('note')).toMatch(reason);
  expect(results.get('call-1')).toMatch('Room for 0');
});

describe('an agent as a tool of a streamed agent', () => {
  it('is a child of the task, which the model reads the result of', async () => {
    const { client, models, childClient } = await start((_, n) =>
      n === 1 ? { calls: [book('0')] } : { text: ['Booked'] },
    );
    const { task } = await client.send('go');
    expect(textOf(task?.artifacts?.[0])).toBe('Booked');
    expect(toolsIn(models.requests[1]!)[0]?.[1]).toMatch('"text":"Room for 0"');
    const { tasks } = await childClient.listTasks({ historyLength: 1 });
    expect(tasks[0]?.history?.[0]?.referenceTaskIds).toEqual([task!.id]);
  });

  it('hands its questions up, and goes on with the answers, without another call of the model', async () => {
    const { client, models, childClient } = await start((_, n) =>
      n === 1 ? { calls: [book('2')] } : { text: ['Booked'] },
    );
    const { task } = await client.send('go');
    expect([task?.status.state, textOf(task?.status.message)]).toEqual([
      'TASK_STATE_INPUT_REQUIRED',
      'Question 1',
    ]);
    const waits = task?.history?.find((message) => textOf(message).startsWith('Waits for an answer'));
    expect(waits?.metadata).toEqual({ [AI_SDK]: {} });
    const { task: again } = await client.send('red', { task: task! });
    expect(textOf(again?.status.message)).toBe('Question 2');
    const { task: done } = await client.send('big', { task: task! });
    expect(done?.status.state).toBe('TASK_STATE_COMPLETED');
    expect(models.requests).toHaveLength(2);
    expect(toolsIn(models.requests[1]!)).toHaveLength(1);
    expect(toolsIn(models.requests[1]!)[0]?.[1]).toMatch('Room for 2, red, big');
    expect((await childClient.listTasks()).tasks).toHaveLength(1);
  });

  it('asks one question after the other where two ask, and remembers the tools that ran beside them', async () => {
    const { client, models, childClient } = await start((_, n) =>
      n === 1
        ? {
            calls: [
              book('1', 'call-1'),
              { id: 'call-2', name: 'weather', input: { place: 'Oulu' } },
              book('1', 'call-3'),
            ],
          }
        : { text: ['Booked'] },
    );
    const { task } = await client.send('go');
    await client.send('red', { task: task! });
    const { task: done } = await client.send('blue', { task: task! });
    expect(done?.status.state).toBe('TASK_STATE_COMPLETED');
    const results = new Map(toolsIn(models.requests[1]!) as [string, string][]);
    expect([...results.keys()].sort()).toEqual(['call-1', 'call-2', 'call-3']);
    expect(results.get('call-2')).toMatch('degrees');
    expect(`${results.get('call-1')}${results.get('call-3')}`).toMatch(
      /Room for 1, (red|blue).*Room for 1, (red|blue)/,
    );
    expect((await childClient.listTasks()).tasks).toHaveLength(2);
    expect(JSON.stringify(done)).not.toMatch('degrees');
  });

  it('is another child where the model gives the id of an earlier call again', async () => {
    const visit = { id: 'call-9', name: 'visit', input: { place: 'Oulu' } };
    const answers: ModelAnswer[] = [{ calls: [book('0')] }, { calls: [visit] }, { calls: [book('0')] }];
    const { client, childClient } = await start((_, n) => answers[n - 1] ?? { text: ['Booked'] });
    const { task } = await client.send('go');
    expect(textOf(task?.status.message)).toMatch('May the tool "visit" run');
    const { task: done } = await client.send('yes', { task: task! });
    expect(done?.status.state).toBe('TASK_STATE_COMPLETED');
    expect((await childClient.listTasks()).tasks).toHaveLength(2);
  });

  it('is canceled with the task', async () => {
    const began = Promise.withResolvers<string>();
    const { client, hotels } = await start(
      () => ({ calls: [book('wait')] }),
      {},
      async function* ({ taskId }) {
        began.resolve(taskId);
        yield artifact('half', 'Half');
        await new Promise(() => {});
      },
    );
    const { task } = await client.send('go', { returnImmediately: true });
    const id = await began.promise;
    expect((await client.cancelTask({ id: task!.id })).status.state).toBe('TASK_STATE_CANCELED');
    await until(hotels, id, 'CANCELED');
  });

  it('waits with the approval of another tool, which is not given without being asked for', async () => {
    const visit = { id: 'call-2', name: 'visit', input: { place: 'Oulu' } };
    const { client, visits, models } = await start((_, n) =>
      n === 1 ? { calls: [book('1'), visit] } : { text: ['Booked'] },
    );
    const { task } = await client.send('go');
    expect(textOf(task?.status.message)).toBe('Question 1');
    await client.send('yes', { task: task! });
    expect(visits).toEqual([]);
    expect(toolsIn(models.requests[1]!).find(([id]) => id === 'call-2')?.[1]).toMatch('not asked');
  });
});

it('tools of a turn need a streamed agent', async () => {
  await expect(a2aTools({ hotels: serve(hotels) }, { turn: {} as CallingTurn })).rejects.toThrow(
    '`streamedAgent`',
  );
});
