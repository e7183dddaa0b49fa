import type { Call, ClientTransport, TransportRequest } from '@batonjs/bindings';
import { A2AError, type AgentEvent, ClientError, connect } from '@batonjs/client';
import type { Task } from '@batonjs/protocol';
import { describe, expect, it } from 'vitest';
import { untilAborted } from '../../../test/kit/until-aborted.ts';
import { poll, sendAndWait, subscribeAndWait, type Wait } from '../src/following/wait.ts';
import { abortedAfterTest } from './cli.ts';

/** What an agent does when it is called: events or a result, and an error at the end. */
type Reaction = readonly (object | Error)[];

const broken = () => new ClientError('NETWORK', 'The connection broke');
const task = (state: string, more: object = {}) => ({
  id: 't',
  contextId: 'c',
  status: { state: `TASK_STATE_${state}` },
  ...more,
});
const status = (state: string) => ({
  statusUpdate: { taskId: 't', contextId: 'c', status: task(state).status },
});

/** An agent that reacts to the calls of each operation one after the other, and always with the last reaction. */
async function agentThat(reactions: Readonly<Record<string, readonly Reaction[]>>) {
  const calls: { operation: string; params: Record<string, unknown> }[] = [];
  const times: number[] = [];
  async function* react({ operation, params }: Call, { signal }: TransportRequest) {
    const before = calls.filter((call) => call.operation === operation).length;
    calls.push({ operation, params });
    times.push(performance.now());
    const own = reactions[operation];
    if (!own) throw new A2AError('METHOD_NOT_FOUND');
    for (const each of own[Math.min(before, own.length - 1)]!) {
      if (each instanceof Error) throw each;
      signal.throwIfAborted();
      yield each;
    }
  }
  const transport: ClientTransport = {
    name: 'SCRIPTED',
    version: '1.0',
    urlOf: (address) => address,
    call: async (call, request) => (await react(call, request).next()).value,
    async *stream(call, request) {
      for await (const event of react(call, request)) yield { event };
    },
  };
  const card = {
    name: 'Scripted',
    description: 'Does what the test says',
    version: '1',
    supportedInterfaces: [{ url: 'http://a.example', protocolBinding: 'SCRIPTED', protocolVersion: '1.0' }],
    capabilities: { streaming: true },
    defaultInputModes: [],
    defaultOutputModes: [],
    skills: [],
  };
  let now = 0;
  // Backoffs take no time; deadlines, which are longer, never come.
  const sleep = async (ms: number, signal?: AbortSignal) => {
    if (ms > 10_000) return untilAborted(signal!);
    now += ms;
  };
  const agent = await connect(card, {
    bindings: [transport],
    retry: { attempts: 1 },
    clock: { now: () => now, sleep },
  });
  return { agent, calls, times, operations: () => calls.map(({ operation }) => operation) };
}

function waiting(more: Partial<Wait> = {}) {
  const seen: [kind: string | undefined, state: string | undefined][] = [];
  const onEvent = (event: AgentEvent, after: Task | undefined) =>
    void seen.push([Object.keys(event)[0], after?.status.state.replace('TASK_STATE_', '')]);
  const { signal } = abortedAfterTest();
  return { seen, wait: { pollMs: 1, signal, onEvent, ...more } };
}

describe('a wait by reading', () => {
  it('goes on after failures of the network, once the agent was there', async () => {
    const { agent, calls } = await agentThat({
      GetTask: [[task('WORKING')], [broken()], [broken()], [task('WORKING')], [task('COMPLETED')]],
    });
    const { wait, seen } = waiting();
    expect(await poll(agent, 't', wait)).toMatchObject(task('COMPLETED'));
    expect(calls).toHaveLength(5);
    expect(seen).toEqual([
      ['task', 'WORKING'],
      ['task', 'COMPLETED'],
    ]);
  });

  it('goes on after failures from what is known already', async () => {
    const { agent } = await agentThat({ GetTask: [[broken()], [task('WORKING')], [task('COMPLETED')]] });
    const { wait, seen } = waiting();
    const known = await agent.getTask({ id: 't' }).catch(() => task('WORKING'));
    expect(await poll(agent, 't', wait, known as Task)).toMatchObject(task('COMPLETED'));
    expect(seen).toEqual([['task', 'COMPLETED']]);
  });

  it.each([
    ['at the first read', [[broken()], [task('COMPLETED')]], {}, { code: 'NETWORK' }, 1],
    ['after too long', [[task('WORKING')], [broken()]], { unreachableMs: 0 }, { code: 'NETWORK' }, 2],
    [
      'with what the agent says',
      [[task('WORKING')], [new A2AError('TASK_NOT_FOUND')], [task('COMPLETED')]],
      {},
      { reason: 'TASK_NOT_FOUND' },
      2,
    ],
  ])('fails %s', async (_, reactions, more, error, count) => {
    const { agent, calls } = await agentThat({ GetTask: reactions });
    await expect(poll(agent, 't', waiting(more).wait)).rejects.toMatchObject(error);
    expect(calls).toHaveLength(count);
  });

  it('reads less and less often', async () => {
    const { agent, times } = await agentThat({
      GetTask: [...Array(5).fill([task('WORKING')]), [task('COMPLETED')]],
    });
    await poll(agent, 't', waiting({ pollMs: 20 }).wait);
    const pauses = times.slice(1).map((time, n) => time - times[n]!);
    // A timer may be a millisecond early.
    for (const [n, least] of [20, 30, 45, 67, 100].entries())
      expect(pauses[n]).toBeGreaterThanOrEqual(least - 1.5);
  });
});

describe('a wait for a task that runs', () => {
  it('reads where streams break, and shows nothing twice', async () => {
    const { agent, operations } = await agentThat({
      SubscribeToTask: [[{ task: task('WORKING') }, broken()], [broken()]],
      GetTask: [[task('WORKING')], [task('COMPLETED')]],
    });
    const { wait, seen } = waiting();
    expect(await subscribeAndWait(agent, 't', wait)).toMatchObject(task('COMPLETED'));
    expect(seen).toEqual([
      ['task', 'WORKING'],
      ['task', 'COMPLETED'],
    ]);
    expect(operations().slice(-2)).toEqual(['GetTask', 'GetTask']);
  });

  it('fails with an agent that was never there, and reads nothing', async () => {
    const { agent, operations } = await agentThat({
      SubscribeToTask: [[broken()]],
      GetTask: [[task('COMPLETED')]],
    });
    await expect(subscribeAndWait(agent, 't', waiting().wait)).rejects.toMatchObject({ code: 'NETWORK' });
    expect(operations()).not.toContain('GetTask');
  });

  it('fails with a task that is gone', async () => {
    const gone = new A2AError('TASK_NOT_FOUND');
    const { agent } = await agentThat({
      SubscribeToTask: [[{ task: task('WORKING') }, gone]],
      // The client reads an ended task, whose stream is refused, once.
      GetTask: [[gone], [task('COMPLETED')]],
    });
    await expect(subscribeAndWait(agent, 't', waiting().wait)).rejects.toMatchObject({
      reason: 'TASK_NOT_FOUND',
    });
  });

  it('ends where the task asks, and when it is interrupted', async () => {
    const stream: Reaction = [{ task: task('WORKING') }, status('INPUT_REQUIRED'), status('COMPLETED')];
    const { agent } = await agentThat({ SubscribeToTask: [stream], GetTask: [[task('COMPLETED')]] });
    expect(await subscribeAndWait(agent, 't', waiting().wait)).toMatchObject(task('INPUT_REQUIRED'));
    const stop = abortedAfterTest();
    const onEvent = () => stop.abort(new Error('Enough'));
    const { wait } = waiting({ signal: stop.signal, onEvent });
    await expect(subscribeAndWait(agent, 't', wait)).rejects.toThrow();
  });
});

describe('a wait for the answer to a message', () => {
  const send = async (reactions: Parameters<typeof agentThat>[0], more: object = {}) => {
    const scripted = await agentThat(reactions);
    const { wait, seen } = waiting();
    const sending = sendAndWait(scripted.agent, [{ text: 'hi' }], { messageId: 'm', ...more }, wait);
    return { sending, seen, ...scripted };
  };
  const asking: Reaction = [{ task: task('AUTH_REQUIRED') }, status('WORKING'), status('COMPLETED')];

  it('reads where streams break after the task is known', async () => {
    const { sending, seen, operations } = await send({
      SendStreamingMessage: [[{ task: task('WORKING') }, broken()]],
      SubscribeToTask: [[broken()]],
      GetTask: [[task('WORKING')], [task('COMPLETED')]],
    });
    expect(await sending).toMatchObject({ task: task('COMPLETED') });
    expect(seen).toEqual([
      ['task', 'WORKING'],
      ['task', 'COMPLETED'],
    ]);
    expect(operations()).not.toContain('SendMessage');
  });

  it.each<[string, Reaction, object]>([
    ['the agent is never there', [broken()], { code: 'NETWORK' }],
    ['the message is refused', [new A2AError('INVALID_PARAMS')], { reason: 'INVALID_PARAMS' }],
  ])('does not send again where %s', async (_, reaction, error) => {
    const { sending, operations } = await send({
      SendStreamingMessage: [reaction],
      SendMessage: [[{ task: task('COMPLETED') }]],
      GetTask: [[task('COMPLETED')]],
    });
    await expect(sending).rejects.toMatchObject(error);
    expect(new Set(operations())).toEqual(new Set(['SendStreamingMessage']));
  });

  it.each(['UNSUPPORTED_OPERATION', 'METHOD_NOT_FOUND', 'METHOD_NOT_ALLOWED'] as const)(
    'sends without a stream where one is refused with %s',
    async (reason) => {
      const { sending, calls } = await send({
        SendStreamingMessage: [[new A2AError(reason)]],
        SendMessage: [[{ task: task('INPUT_REQUIRED') }]],
      });
      expect(await sending).toMatchObject({ task: task('INPUT_REQUIRED') });
      expect(calls.map(({ params }) => (params.message as { messageId: string }).messageId)).toEqual([
        'm',
        'm',
      ]);
    },
  );

  it('ends where a new task asks for credentials, not where the task did so before the message', async () => {
    const fresh = await send({ SendStreamingMessage: [asking] });
    expect(await fresh.sending).toMatchObject({ task: task('AUTH_REQUIRED') });
    const again: Reaction = [status('AUTH_REQUIRED'), status('COMPLETED')];
    const later = await send({ SendStreamingMessage: [[{ task: task('WORKING') }, ...again]] });
    expect(await later.sending).toMatchObject({ task: task('AUTH_REQUIRED') });
    const continued = await send({ SendStreamingMessage: [asking] }, { task: 't' });
    expect(await continued.sending).toMatchObject({ task: task('COMPLETED') });
  });

  it('gives the message of an agent that makes no task', async () => {
    const message = { messageId: 'a', role: 'ROLE_AGENT', parts: [{ text: 'ok' }] };
    const { sending, seen } = await send({ SendStreamingMessage: [[{ message }]] });
    expect(await sending).toEqual({ message });
    expect(seen).toEqual([['message', undefined]]);
  });
});
