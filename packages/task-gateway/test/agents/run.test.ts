import { A2AError, type AgentClient, type AgentEvent, ClientError } from '@batonjs/client';
import { FORM_INPUT, TASK_ERROR, TASK_PROGRESS, TYPED_SKILLS } from '@batonjs/extensions/client';
import { derivedId } from '@batonjs/nested-tasks/internals';
import type { Json, Message, Part, Task, TaskState } from '@batonjs/protocol';
import { IDEMPOTENCY } from '@batonjs/protocol/headers';
import type { Turn } from '@batonjs/server';
import { describe, expect, it } from 'vitest';
import type { Report } from '../../src/dispatch/report.ts';
import {
  agentTaskOf,
  findTask,
  forwardAnswers,
  type Run,
  runAtAgent,
} from '../../src/dispatch/run-at-agent.ts';
import { noteMessage } from '../../src/tasks/gateway-task.ts';

const text = (words: string): Part => ({ text: words });
const said = (
  messageId: string,
  role: Message['role'] = 'ROLE_AGENT',
  parts = [text(messageId)],
): Message => ({
  messageId,
  role,
  parts,
});
const at = (state: string, message?: Message, more: Partial<Task> = {}): Task => ({
  id: 'there',
  contextId: derivedId('here', 'context'),
  status: { state: `TASK_STATE_${state}` as TaskState, timestamp: 'now', ...(message && { message }) },
  ...more,
});

function streamOf(events: readonly AgentEvent[]) {
  const left = [...events];
  const stream = {
    task: undefined as Task | undefined,
    async next() {
      const value = left.shift();
      if (value?.task) stream.task = value.task;
      return value ? { done: false, value } : { done: true, value: undefined };
    },
    return: async () => ({ done: true, value: undefined }),
    [Symbol.asyncIterator]: () => stream,
  };
  return stream;
}

interface Playing {
  readonly streams?: readonly (readonly AgentEvent[] | Error)[];
  readonly offers?: readonly string[];
  readonly isLocal?: boolean;
  readonly tasks?: readonly Task[] | Error;
  /** The task as the agent shows it, one after the other. */
  readonly shown?: readonly Task[];
  readonly sending?: Error;
  /** Steps that an attempt before recorded. */
  readonly steps?: Readonly<Record<string, unknown>>;
  readonly messages?: readonly Message[];
  readonly inbox?: readonly Message[];
  readonly signal?: AbortSignal;
}

/** A turn at an agent that the test plays: what the agent was asked, and what was reported. */
function playing({
  streams = [],
  offers = [],
  isLocal = false,
  tasks = [],
  shown = [],
  sending,
  steps = {},
  messages = [said('t', 'ROLE_USER')],
  inbox = [],
  signal = new AbortController().signal,
}: Playing = {}) {
  const calls: unknown[][] = [];
  const signals: (AbortSignal | undefined)[] = [];
  const left = [...streams];
  const views = [...shown];
  const next =
    (name: string) =>
    (first: unknown, { signal: given, ...more }: { signal?: AbortSignal }) => {
      calls.push([name, first, more]);
      signals.push(given);
      const events = left.shift() ?? [];
      if (events instanceof Error) throw events;
      return streamOf(events);
    };
  const agent = {
    card: { name: 'Played', capabilities: { extensions: offers.map((uri) => ({ uri })) } },
    stream: next('stream'),
    follow: next('follow'),
    async listTasks(request: unknown) {
      calls.push(['listTasks', request]);
      if (tasks instanceof Error) throw tasks;
      return { tasks };
    },
    async getTask(request: unknown, { signal: given }: { signal?: AbortSignal } = {}) {
      calls.push(['getTask', request]);
      signals.push(given);
      return views.length > 1 ? views.shift() : views[0];
    },
    async send(input: unknown, { signal: given, ...more }: { signal?: AbortSignal }) {
      calls.push(['send', input, more]);
      signals.push(given);
      if (sending) throw sending;
    },
  };
  const reported: Task[] = [];
  const recorded: Record<string, unknown> = {};
  const turn = {
    taskId: 'here',
    signal,
    messages,
    inbox: (async function* () {
      yield* inbox;
    })(),
    async step(name: string, perform: () => unknown) {
      if (Object.hasOwn(steps, name)) return steps[name];
      recorded[name] = await perform();
      return recorded[name];
    },
  } as unknown as Turn;
  const run: Run = {
    target: { agent: agent as unknown as AgentClient, skillId: undefined, isLocal },
    turn,
    report: { running: async (task: Task) => void reported.push(task) } as unknown as Report,
    unreachableMs: 0,
  };
  const start = async (data: Json = { a: 1 }, metadata = {}) =>
    runAtAgent(run, data, metadata).catch((error: Error) => error);
  return { run, start, calls, signals, reported, recorded, names: () => calls.map(([name]) => name) };
}

const [context, message] = [derivedId('here', 'context'), derivedId('here', 'message')];
const done = at('COMPLETED');
const working = at('WORKING');
const options = { followForMs: 0, extensions: [] as string[] };

describe('a task at its agent', () => {
  it('is sent once, with ids that every process derives, and followed to its end', async () => {
    const first = playing({
      streams: [[{ task: working }, { task: done }]],
      offers: [TASK_ERROR, TYPED_SKILLS, 'x', FORM_INPUT, TASK_PROGRESS],
    });
    expect(await first.start({ a: 1 }, { mine: 1 })).toEqual({ task: done });
    const extensions = [TYPED_SKILLS, FORM_INPUT, TASK_PROGRESS, TASK_ERROR];
    expect(first.calls).toEqual([
      [
        'stream',
        [{ data: { a: 1 } }],
        { followForMs: 0, extensions, messageId: message, contextId: context, metadata: { mine: 1 } },
      ],
    ]);
    expect(first.recorded).toEqual({ sending: undefined, send: { taskId: 'there' } });
    expect(first.reported).toEqual([working, done]);
    // Whatever the agent still sends is not waited for.
    expect(first.signals[0]!.aborted).toBe(true);
    const bare = playing({ streams: [[{ task: done }]] });
    await bare.start();
    expect(bare.calls[0]![2]).toEqual({ ...options, messageId: message, contextId: context });
    expect(context).toMatch(/^[\da-f]{32}$/);
    expect(new Set([context, message, derivedId('x', 'context')]).size).toBe(3);
  });

  const lost = { steps: { sending: undefined } };
  it.each<[string, Playing, string[], unknown]>([
    [
      'is sent again to an agent with idempotency',
      { ...lost, offers: [IDEMPOTENCY], streams: [[{ task: done }]] },
      ['stream'],
      { task: done },
    ],
    [
      'is found at the agent',
      {
        ...lost,
        tasks: [at('WORKING', undefined, { contextId: 'x', id: 'x' }), working],
        streams: [[{ task: done }]],
      },
      ['listTasks', 'follow'],
      { task: done },
    ],
    [
      'is sent again in this process',
      { ...lost, isLocal: true, streams: [[{ task: done }]] },
      ['listTasks', 'stream'],
      { task: done },
    ],
    [
      'is not sent twice',
      lost,
      ['listTasks'],
      {
        name: 'UnknownOutcome',
        message: 'Whether the agent received the task is not known, and it is not sent twice',
      },
    ],
    [
      'is not sent twice where tasks cannot be listed',
      { ...lost, tasks: new A2AError('METHOD_NOT_FOUND') },
      ['listTasks'],
      { name: 'UnknownOutcome' },
    ],
  ])('that an attempt may have sent %s', async (_, played, names, expected) => {
    const found = playing(played);
    expect(await found.start()).toMatchObject(expected as object);
    expect(found.names()).toEqual(names);
  });

  it.each<[string, Error, string]>([
    [
      'is away',
      new ClientError('NETWORK', 'x', Object.assign(new Error('x'), { code: 'ECONNREFUSED' })),
      'Unreachable',
    ],
    ['breaks off', new ClientError('NETWORK', 'x'), 'Unreachable'],
    ['refuses', new A2AError('PERMISSION_DENIED'), 'A2AError'],
  ])('fails with the error of an agent that %s', async (_, error, name) => {
    expect(await playing({ streams: [error] }).start()).toMatchObject({ name });
  });

  it('is given up with the turn', async () => {
    const reason = new Error('Over');
    expect(await playing({ streams: [[{ task: working }]], signal: AbortSignal.abort(reason) }).start()).toBe(
      reason,
    );
  });

  it('is found by its context', async () => {
    expect(await findTask(playing({ tasks: [working] }).run)).toBe('there');
    const other = playing({ tasks: [{ ...working, contextId: 'x' }] });
    expect(await findTask(other.run)).toBeUndefined();
    expect(other.calls).toEqual([['listTasks', { contextId: context }]]);
  });

  it('is the latest that the log names', () => {
    const noted = (note: object) => noteMessage('', note);
    const found = (...messages: Message[]) => agentTaskOf({ messages } as unknown as Turn);
    expect(found()).toBeUndefined();
    expect(found(said('x'), noted({ progress: 1 }))).toBeUndefined();
    expect(found(noted({ agentTaskId: 'a' }), noted({ agentTaskId: 'b' }), noted({ progress: 1 }))).toBe('b');
  });
});

describe('an answer of the host', () => {
  const answer = (id: string, formId = 'q', values: unknown = { text: id }) =>
    said(id, 'ROLE_USER', [{ data: { formId, values } } as Part]);
  const asking = at('INPUT_REQUIRED', said('q'));
  const idOf = (id: string) => derivedId('here', id);
  const sent = (id: string, input: unknown = expect.anything()) => [
    'send',
    input,
    { ...options, messageId: idOf(id), returnImmediately: true },
  ];
  const forward = async (played: Playing) => {
    const found = playing(played);
    const end = await forwardAnswers(found.run, 'there', found.run.turn.signal).catch(
      (error: Error) => error,
    );
    return { ...found, end, sends: found.calls.filter(([name]) => name === 'send') };
  };

  it('is sent as it arrives, after one that a process took before', async () => {
    const { sends, calls, end } = await forward({
      messages: [said('t', 'ROLE_USER'), answer('old'), said('x'), answer('taken'), said('y')],
      inbox: [answer('one'), answer('two')],
      shown: [asking],
    });
    expect(end).toBeUndefined();
    expect(sends).toEqual([sent('taken'), sent('one'), sent('two')]);
    expect(calls[0]).toEqual(['getTask', { id: 'there' }]);
  });

  it.each<[string, Task, Message, number]>([
    ['the agent waits', asking, answer('a'), 1],
    ['the agent waits for an authorization', at('AUTH_REQUIRED', said('q')), answer('a'), 1],
    ['the agent went on', working, answer('a'), 0],
    ['the agent ended', done, answer('a'), 0],
    ['the agent got it', { ...asking, history: [said('x'), said(idOf('a'))] }, answer('a'), 0],
    ['the agent got others', { ...asking, history: [said('x')] }, answer('a'), 1],
    ['the agent asks something else', asking, answer('a', 'other'), 0],
    ['it has no data', asking, said('a', 'ROLE_USER'), 0],
    ['it has no parts', asking, said('a', 'ROLE_USER', []), 0],
  ])('is sent or not: %s', async (_, task, given, count) => {
    expect((await forward({ inbox: [given], shown: [task] })).sends).toHaveLength(count);
  });

  it.each<[unknown, string]>([
    [{ text: '5' }, '5'],
    [{ text: 5 }, '5'],
    [{}, ''],
    [null, ''],
  ])('of %j to a question in words is text', async (values, words) => {
    const { sends } = await forward({ inbox: [answer('a', 'q', values)], shown: [asking] });
    expect(JSON.stringify(sends[0]![1])).toContain(JSON.stringify(words));
  });

  it('that fails is forgiven if the agent has it or asks nothing any more', async () => {
    const sending = new A2AError('INTERNAL_ERROR');
    const given = { inbox: [answer('a')], sending };
    expect((await forward({ ...given, shown: [asking] })).end).toBe(sending);
    expect((await forward({ ...given, shown: [asking, working] })).end).toBeUndefined();
    expect(
      (await forward({ ...given, shown: [asking, { ...asking, history: [said(idOf('a'))] }] })).end,
    ).toBeUndefined();
    const reason = new Error('Over');
    expect(
      (
        await forward({
          messages: [said('t', 'ROLE_USER'), answer('a')],
          sending,
          shown: [asking, working],
          signal: AbortSignal.abort(reason),
        })
      ).end,
    ).toBe(reason);
  });

  it('that comes after the end of the task is not sent', async () => {
    const { calls, end } = await forward({
      inbox: [answer('a')],
      shown: [asking],
      signal: AbortSignal.abort(),
    });
    expect([calls, end]).toEqual([[], undefined]);
  });
});
