import { A2AError, type AgentClient, type AgentEvent, type AgentReply, ClientError } from '@batonjs/client';
import { FORM_INPUT, TASK_ERROR, TASK_PROGRESS, TASK_TREE } from '@batonjs/extensions/client';
import type { Child } from '@batonjs/lifecycle';
import type { Message, Part, Task, TaskState } from '@batonjs/protocol';
import { IDEMPOTENCY } from '@batonjs/protocol/headers';
import { type TaskUpdate, type Turn, working } from '@batonjs/server';
import { describe, expect, it } from 'vitest';
import type { CallOptions, CallScope } from '../src/call.ts';
import { childCall } from '../src/children/child-call.ts';
import { type ChildRecord, derivedId } from '../src/children/child-record.ts';
import { relayAll } from '../src/children/relay.ts';

const text = (words: string): Part => ({ text: words });
const said = (messageId: string, role: Message['role'] = 'ROLE_AGENT'): Message => ({
  messageId,
  role,
  parts: [text(messageId)],
});
const user = (messageId: string) => said(messageId, 'ROLE_USER');

/** The child at its agent. */
const at = (state: string, message?: Message, more: Partial<Task> = {}): Task => ({
  id: 'there',
  contextId: 'c',
  status: { state: `TASK_STATE_${state}` as TaskState, timestamp: 'now', ...(message && { message }) },
  ...more,
});
const became = (state: string, message?: Message): AgentEvent =>
  ({ statusUpdate: { taskId: 'there', contextId: 'c', status: at(state, message).status } }) as AgentEvent;

/** A stream of these events, whose ids are their numbers. */
function streamOf(events: readonly AgentEvent[], afterFirst?: Promise<void>) {
  const left = [...events];
  const stream = {
    task: undefined as Task | undefined,
    lastEventId: undefined as string | undefined,
    async next() {
      if (left.length < events.length) await afterFirst;
      const value = left.shift();
      if (!value) return { done: true, value: undefined };
      stream.lastEventId = `${events.length - left.length}`;
      if (value.task) stream.task = value.task;
      if (value.statusUpdate)
        stream.task = { ...(stream.task ?? at('WORKING')), status: value.statusUpdate.status };
      return { done: false, value };
    },
    return: async () => ({ done: true, value: undefined }),
    result: async () => ({ task: stream.task }),
    [Symbol.asyncIterator]: () => stream,
  };
  return stream;
}

interface Playing {
  /** What the log of the parent has of the child. */
  readonly known?: Partial<Omit<Child, 'record'>> & { readonly record?: Partial<ChildRecord> };
  readonly messages?: readonly Message[];
  readonly attempt?: number;
  /** The events of each stream, in their order; an error is thrown. */
  readonly streams?: readonly (readonly AgentEvent[] | Error)[];
  /** The child as `GetTask` shows it. */
  readonly task?: Task;
  readonly tasks?: readonly Task[] | Error;
  /** What the first `ListTasks` fails with. The agent is then tried again for a minute. */
  readonly awayAtFirst?: Error;
  readonly offers?: readonly string[];
  readonly asked?: readonly string[];
  readonly isLocal?: boolean;
  readonly options?: Partial<CallOptions>;
  readonly signal?: AbortSignal;
  readonly inbox?: readonly Message[];
  /** What comes to the inbox while the first message of it is passed on, which then never arrives. */
  readonly meanwhile?: readonly Message[];
  /** Other calls of the turn whose children wait for an authorization. */
  readonly authorizing?: readonly string[];
  readonly sending?: Error;
  /** Why nothing can be written any more. */
  readonly lost?: Error;
}

/** One call of a turn, with an agent that the test plays: what it was asked, what was written, and how it ended. */
async function played({
  known,
  messages = [user('m1')],
  attempt = 1,
  streams = [],
  task,
  tasks = [],
  awayAtFirst,
  offers = [],
  asked = [],
  isLocal = false,
  options = {},
  signal = new AbortController().signal,
  inbox = [],
  meanwhile = [],
  authorizing = [],
  sending,
  lost,
}: Playing) {
  const mail = [...inbox];
  const logged: unknown[][] = [];
  const forwarded = Promise.withResolvers<void>();
  const calls: unknown[][] = [];
  const left = [...streams];
  const next =
    (name: string) =>
    (...given: [unknown, { signal?: AbortSignal }]) => {
      const [first, { signal: _, ...more }] = given;
      calls.push([name, first, more]);
      const events = left.shift() ?? [];
      if (events instanceof Error) throw events;
      return streamOf(events, inbox.length > 0 ? forwarded.promise : undefined);
    };
  const client = {
    card: { name: 'Child', capabilities: { extensions: offers.map((uri) => ({ uri })) } },
    stream: next('stream'),
    follow: next('follow'),
    async getTask({ id }: { id: string }, given: { signal?: AbortSignal }) {
      calls.push(['getTask', id, { hasSignal: given.signal !== undefined }]);
      return task;
    },
    async send(input: unknown, { signal: _, task: __, ...more }: { signal?: AbortSignal; task?: Task }) {
      calls.push(['send', input, more]);
      if (mail.length === 0) forwarded.resolve();
      if (sending) throw sending;
      mail.push(...meanwhile);
      if (meanwhile.length > 0) await new Promise<never>(() => {});
    },
    async listTasks() {
      calls.push(['listTasks']);
      if (awayAtFirst && !calls.slice(0, -1).some(([name]) => name === 'listTasks')) throw awayAtFirst;
      if (tasks instanceof Error) throw tasks;
      return { tasks };
    },
  };
  const written: TaskUpdate[] = [];
  const record = { at: 'there', startedAt: 5, ...known?.record };
  const turn = {
    taskId: 'parent',
    attempt,
    messages,
    extensions: asked,
    inbox: {
      get size() {
        return mail.length;
      },
      take: async () => mail.shift(),
    },
    children: known ? { a: { agent: 'Child', ...known, record } } : {},
  } as unknown as Turn;
  const scope: CallScope = {
    turn,
    signal,
    agents: undefined as never,
    async emit(update) {
      if (lost) throw lost;
      written.push(update);
    },
    limits: { depth: 8, calls: 100, unreachableMs: awayAtFirst ? 60_000 : 0 },
    cancelMs: 4_000,
    authorizing: new Set(authorizing),
    logger: (...entry) => logged.push(entry),
  };
  const target = { client: client as unknown as AgentClient, at: 'there', isLocal };
  const call = childCall(scope, target, { name: 'a', ...options });
  const end: AgentReply | Error = await call.run('Hi').catch((error: Error) => error);
  return {
    calls,
    logged,
    scope,
    written: written as (TaskUpdate & { child?: Child & { record: ChildRecord } })[],
    end,
    names: () => calls.map(([name]) => name),
  };
}

const done = at('COMPLETED', said('Done'), {
  history: [user('m')],
  artifacts: [{ artifactId: 'x', parts: [text('x')] }],
});
const { history: _, ...reply } = done;
const messageId = derivedId('parent', 'a', 'message');

describe('a call that starts', () => {
  it('sends nothing once its turn has lost its task', async () => {
    const lost = new Error('The lease is lost');
    expect(await played({ lost })).toMatchObject({ calls: [], end: lost });
  });

  it('is written before its message is sent, and again with its end', async () => {
    const before = Date.now();
    const { calls, written, end } = await played({
      streams: [[{ task: at('WORKING') }, { task: done }]],
      offers: [TASK_TREE, TASK_ERROR, TASK_PROGRESS, FORM_INPUT, 'x', IDEMPOTENCY],
      asked: [TASK_PROGRESS, 'other'],
      options: { extensions: ['x', 'y'], metadata: { mine: 1 } },
    });
    expect(end).toEqual({ task: reply });
    const message = expect.objectContaining({ messageId, parts: [text('Hi')] });
    expect(calls).toEqual([
      [
        'stream',
        message,
        {
          extensions: [TASK_TREE, TASK_ERROR, FORM_INPUT, TASK_PROGRESS, 'x'],
          followForMs: 0,
          metadata: { mine: 1 },
        },
      ],
    ]);
    const startedAt = written[0]!.child!.record.startedAt;
    expect(startedAt).toBeGreaterThanOrEqual(before);
    const child = { name: 'a', agent: 'Child' };
    expect(written).toEqual([
      { child: { ...child, record: { at: 'there', startedAt, message, metadata: { mine: 1 } } } },
      {
        child: {
          ...child,
          taskId: 'there',
          state: 'TASK_STATE_WORKING',
          record: { at: 'there', startedAt, position: '1' },
        },
      },
      {
        child: {
          ...child,
          taskId: 'there',
          state: 'TASK_STATE_COMPLETED',
          record: { at: 'there', startedAt, position: '2', said: 'Done' },
        },
      },
      {
        child: {
          ...child,
          taskId: 'there',
          state: 'TASK_STATE_COMPLETED',
          record: { at: 'there', startedAt, reply: { task: reply } },
        },
      },
    ]);
  });

  it('passes on what `relay` makes of events, once, and nothing of other messages', async () => {
    const { written } = await played({
      streams: [
        [
          { task: at('SUBMITTED') },
          became('WORKING', said('one')),
          became('WORKING', said('one')),
          {
            artifactUpdate: {
              taskId: 'there',
              contextId: 'c',
              artifact: { artifactId: 'x', parts: [text('x')] },
            },
          } as AgentEvent,
          became('WORKING'),
          became('WORKING', said('two')),
          became('COMPLETED', said('end')),
        ],
      ],
      options: { relay: relayAll },
    });
    const shown = written.map((update) =>
      'artifact' in update
        ? 'x'
        : 'status' in update
          ? update.status.message?.parts[0]
          : update.child!.state?.slice(11),
    );
    expect(shown).toEqual([undefined, 'SUBMITTED', text('one'), 'x', text('two'), 'COMPLETED', 'COMPLETED']);
    expect(written[2]).toMatchObject({
      status: {
        message: { messageId: derivedId('parent', 'a', 'said', 'one'), referenceTaskIds: ['there'] },
      },
      child: { record: { said: 'one', position: '2' } },
    });
  });

  it('keeps the progress of the child, and several updates of one event', async () => {
    const message = {
      ...said('one'),
      metadata: { [TASK_PROGRESS]: { aggregate: { progress: 1, total: 2 } } },
    };
    const { written } = await played({
      streams: [[{ task: at('WORKING', message) }, became('WORKING', said('two')), { task: done }]],
      options: {
        relay: (_, { status }) =>
          status.state === 'TASK_STATE_WORKING' ? [working('a'), working('b')] : undefined,
      },
    });
    const progress = { progress: 1, total: 2 };
    expect(written.filter((update) => 'status' in update)).toHaveLength(4);
    // The child is written with the last of them.
    expect(written.filter((update) => 'status' in update).map(({ child }) => child?.record.progress)).toEqual(
      [undefined, progress, undefined, progress],
    );
    expect(written.at(-1)!.child!.record).toMatchObject({ progress, reply: { task: reply } });
  });

  it.each([
    [262_100, false],
    [262_144, true],
  ])(
    'and ends with a reply of %i characters and more keeps it: not if it is longer than 262,144',
    async (length, isLong) => {
      const long = at('COMPLETED', { ...said('m'), parts: [text('x'.repeat(length - 180))] });
      const padding = 262_144 - JSON.stringify({ task: long }).length;
      const parts = [text('x'.repeat(length - 180 + padding + (isLong ? 1 : 0)))];
      const task = at('COMPLETED', { ...said('m'), parts });
      const { written, end } = await played({ streams: [[{ task }]] });
      expect(end).toEqual({ task });
      expect('reply' in written.at(-1)!.child!.record).toBe(!isLong);
    },
  );

  it('whose stream ends without an event cannot be used', async () => {
    const { end } = await played({ streams: [[]], offers: [IDEMPOTENCY] });
    expect(end).toMatchObject({
      reason: 'INVALID_AGENT_RESPONSE',
      message: 'The agent ended its stream without an event',
    });
  });

  it('whose stream ends before the child is followed on', async () => {
    const { calls, end } = await played({
      streams: [[{ task: at('WORKING') }], [became('WORKING'), { task: done }]],
    });
    expect(end).toEqual({ task: reply });
    expect(calls[1]).toEqual(['follow', 'there', { extensions: [], followForMs: 0, lastEventId: '1' }]);
  });
});

describe('a call that an attempt before began', () => {
  const message = { ...user(messageId), contextId: 'c' };
  const begun = { record: { message, metadata: { mine: 1 } } };
  const network = new ClientError('NETWORK', 'Lost');
  const there = at('WORKING', undefined, { history: [message] });
  const unknown = { code: 'OUTCOME_UNKNOWN', call: 'a' };

  it.each<[string, Playing, string[], unknown]>([
    [
      'is sent again where that is safe',
      { offers: [IDEMPOTENCY], streams: [[{ task: done }]] },
      ['stream'],
      { task: reply },
    ],
    [
      'is followed where its task is found',
      { tasks: [there], streams: [[{ task: done }]] },
      ['listTasks', 'follow'],
      { task: reply },
    ],
    [
      'is looked for again where the agent is away for a moment',
      { tasks: [there], awayAtFirst: network, streams: [[{ task: done }]] },
      ['listTasks', 'listTasks', 'follow'],
      { task: reply },
    ],
    ['is not sent again otherwise', { tasks: [at('WORKING')] }, ['listTasks'], unknown],
    [
      'is not sent again where tasks cannot be listed',
      { tasks: new A2AError('METHOD_NOT_FOUND') },
      ['listTasks'],
      unknown,
    ],
    [
      'is sent again in this process',
      { isLocal: true, streams: [[{ task: done }]] },
      ['listTasks', 'stream'],
      { task: reply },
    ],
    [
      'is sent again if it may be',
      { options: { resend: true }, streams: [[{ task: done }]] },
      ['listTasks', 'stream'],
      { task: reply },
    ],
    [
      'is not sent again while the agent is away',
      { tasks: network, options: { resend: true } },
      ['listTasks'],
      { name: 'Unreachable', cause: network },
    ],
  ])('%s', async (_, playing, names, expected) => {
    const found = await played({ known: begun, ...playing });
    expect(found.names()).toEqual(names);
    expect(found.end).toMatchObject(expected as object);
    const sent = found.calls.find(([name]) => name === 'stream');
    if (sent) expect(sent).toMatchObject(['stream', message, { metadata: { mine: 1 } }]);
  });

  it.each<[string, Playing, string[], unknown]>([
    [
      'is followed',
      { tasks: [there], streams: [network, [{ task: done }]] },
      ['stream', 'listTasks', 'follow'],
      { task: reply },
    ],
    ['is not known', { streams: [network] }, ['stream', 'listTasks'], unknown],
    [
      'is not known after a timeout',
      { streams: [new ClientError('TIMEOUT', 'Late')] },
      ['stream', 'listTasks'],
      unknown,
    ],
    [
      'is the error of an agent with idempotency',
      { streams: [network], offers: [IDEMPOTENCY] },
      ['stream'],
      { name: 'Unreachable' },
    ],
    [
      'is the error of a refusal',
      { streams: [new A2AError('PERMISSION_DENIED')] },
      ['stream'],
      { reason: 'PERMISSION_DENIED' },
    ],
    [
      'is that it was not sent',
      { streams: [new ClientError('NETWORK', 'x', Object.assign(new Error('x'), { code: 'ECONNREFUSED' }))] },
      ['stream'],
      { name: 'Unreachable' },
    ],
  ])('what became of a message that got no answer %s', async (_, playing, names, expected) => {
    const contextId = derivedId('parent', 'a', 'context');
    const tasks = Array.isArray(playing.tasks)
      ? playing.tasks.map((one) => ({ ...one, contextId }))
      : playing.tasks;
    const found = await played({ ...playing, ...(tasks && { tasks }) });
    expect(found.names()).toEqual(names);
    expect(found.end).toMatchObject(expected as object);
  });
});

describe('a question of a child', () => {
  const question = at('INPUT_REQUIRED', said('q'));
  const idOf = (n: number) => derivedId('parent', 'a', 'question', String(n));
  const abort = new AbortController();
  abort.abort(new Error('The turn is over'));
  const over = abort.signal;
  const asks = (n: number, more: object = {}) => ({
    status: {
      state: 'TASK_STATE_INPUT_REQUIRED',
      message: { messageId: idOf(n), role: 'ROLE_AGENT', parts: [text('q')], referenceTaskIds: ['there'] },
    },
    child: {
      state: 'TASK_STATE_INPUT_REQUIRED',
      record: { questions: n, question: idOf(n), asked: 'q', ...more },
    },
  });

  it.each<[string, Playing, number]>([
    ['at the end of a stream', { streams: [[{ task: question }]] }, 1],
    [
      'in the middle of one',
      { known: { taskId: 'there' }, streams: [[{ task: question }, became('WORKING')]] },
      1,
    ],
    [
      'after another one',
      {
        known: { taskId: 'there', record: { questions: 3, question: idOf(3), asked: 'x', answered: 'm1' } },
        streams: [[{ task: question }]],
      },
      4,
    ],
    [
      'again, without an answer',
      {
        known: { taskId: 'there', record: { questions: 3, question: idOf(3), asked: 'q' } },
        streams: [[{ task: question }]],
      },
      3,
    ],
    [
      'that the log knows',
      { known: { taskId: 'there', state: 'TASK_STATE_INPUT_REQUIRED' }, task: question },
      1,
    ],
  ])('%s becomes one of the parent, and the turn ends', async (_, playing, n) => {
    const { written, end } = await played({ signal: over, ...playing });
    expect(end).toEqual(over.reason);
    expect(written.at(-1)).toMatchObject(asks(n));
    expect(written.at(-1)!.child!.record.answered).toBeUndefined();
  });

  const answered = (messages: readonly Message[], record: Partial<ChildRecord> = {}): Playing => ({
    known: {
      taskId: 'there',
      state: 'TASK_STATE_INPUT_REQUIRED',
      record: { questions: 1, question: 'own', asked: 'q', ...record },
    },
    messages: [user('m1'), said('own'), ...messages],
    streams: [[{ task: question }, { task: done }], [{ task: done }]],
    task: question,
  });
  const sent = (id: string) => derivedId('parent', 'a', 'message', id);
  const answer = (id: string) => ({
    parts: [text(id)],
    role: 'ROLE_USER',
    messageId: sent(id),
    taskId: 'there',
    contextId: 'c',
  });

  it('gets the answer of the user, and its reply may begin with the question', async () => {
    const { calls, end, written } = await played(answered([user('yes')]));
    expect(calls).toEqual([
      ['getTask', 'there', { hasSignal: true }],
      ['getTask', 'there', { hasSignal: true }],
      ['stream', answer('yes'), { extensions: [], followForMs: 0 }],
    ]);
    expect(end).toEqual({ task: reply });
    expect(written[0]!.child!.record.answered).toBe('yes');
  });

  it('gets all answers in their order, except those that it got', async () => {
    const more = { messageId: '', returnImmediately: true };
    const all = await played(answered([user('one'), user('two'), user('three'), said('x'), user('four')]));
    expect(all.calls.slice(2)).toEqual([
      ['send', { parts: [text('one')] }, { ...more, messageId: sent('one') }],
      ['send', { parts: [text('two')] }, { ...more, messageId: sent('two') }],
      ['stream', answer('three'), { extensions: [], followForMs: 0 }],
    ]);
    const rest = await played(answered([user('one'), user('two')], { answered: 'one' }));
    expect(rest.calls.slice(2)).toEqual([['stream', answer('two'), { extensions: [], followForMs: 0 }]]);
    const history = [user(sent('one'))];
    const some = await played({ ...answered([user('one'), user('two')]), task: { ...question, history } });
    expect(some.calls.slice(2)).toEqual([['stream', answer('two'), { extensions: [], followForMs: 0 }]]);
  });

  it.each<[string, Task]>([
    ['has it', { ...question, history: [user('m'), user(sent('yes'))] }],
    ['works again', at('WORKING')],
  ])('is not answered twice: the child %s', async (_, task) => {
    const playing = answered([user('yes')]);
    const { names, end, written } = await played({ ...playing, task, streams: [[{ task: done }]] });
    expect(names().filter((name) => name !== 'getTask')).toEqual(['follow']);
    expect(end).toEqual({ task: reply });
    if (task.history) expect(written[0]!.child!.record.answered).toBe('yes');
  });

  it('is answered with what the agent said before, without asking it again', async () => {
    const own = { to: 'q', message: { parts: [text('before')] } };
    const known = {
      taskId: 'there',
      state: 'TASK_STATE_INPUT_REQUIRED' as const,
      record: { own, asked: 'q' },
    };
    const onQuestion = () => expect.unreachable();
    const again = await played({
      known,
      task: question,
      options: { onQuestion },
      streams: [[{ task: done }]],
    });
    expect(again.calls.at(-1)).toMatchObject(['stream', { parts: [text('before')] }, {}]);
    const other = await played({
      known,
      task: at('INPUT_REQUIRED', said('other')),
      options: { onQuestion: () => 'new' },
      streams: [[{ task: done }]],
    });
    expect(other.calls.at(-1)).toMatchObject([
      'stream',
      { parts: [text('new')], messageId: derivedId('parent', 'a', 'answer', 'other') },
      {},
    ]);
  });

  it('without a message is answered too', async () => {
    const bare = at('INPUT_REQUIRED');
    const { calls, end } = await played({
      options: { onQuestion: () => 'mine' },
      streams: [[{ task: bare }], [{ task: done }]],
    });
    expect(calls[1]).toMatchObject(['stream', { messageId: derivedId('parent', 'a', 'answer', '') }, {}]);
    expect(end).toEqual({ task: reply });
    const record = { questions: 1, question: idOf(1), asked: 'q', answered: 'm1' };
    const next = await played({
      known: { taskId: 'there', record },
      signal: over,
      streams: [[{ task: bare }]],
    });
    expect(next.written.at(-1)?.child?.record).toMatchObject({ questions: 2, question: idOf(2) });
  });
});

describe('an authorization that a child waits for', () => {
  const waiting = at('AUTH_REQUIRED', said('q'));
  const idOf = (n: number) => derivedId('parent', 'a', 'question', String(n));
  const statuses = (written: readonly TaskUpdate[]) =>
    written.flatMap((update) =>
      'status' in update ? [[update.status.state.slice(11), update.status.message?.messageId]] : [],
    );

  it.each<[string, Playing, unknown[]]>([
    [
      'and then goes on without a word',
      { streams: [[{ task: waiting }, became('WORKING'), { task: done }]] },
      [
        ['AUTH_REQUIRED', idOf(1)],
        ['WORKING', undefined],
      ],
    ],
    [
      'and then goes on with a word',
      { streams: [[{ task: waiting }, became('WORKING', said('one')), { task: done }]] },
      [
        ['AUTH_REQUIRED', idOf(1)],
        ['WORKING', derivedId('parent', 'a', 'said', 'one')],
      ],
    ],
    ['and then ends', { streams: [[{ task: waiting }, { task: done }]] }, [['AUTH_REQUIRED', idOf(1)]]],
    [
      'is asked for once',
      { streams: [[{ task: waiting }, { task: waiting }, { task: done }]] },
      [['AUTH_REQUIRED', idOf(1)]],
    ],
    [
      'is asked for again where it is another one',
      { streams: [[{ task: waiting }, became('AUTH_REQUIRED', said('r')), { task: done }]] },
      [
        ['AUTH_REQUIRED', idOf(1)],
        ['AUTH_REQUIRED', idOf(2)],
      ],
    ],
    [
      'is asked for again by another attempt',
      {
        known: {
          taskId: 'there',
          state: 'TASK_STATE_AUTH_REQUIRED',
          record: { questions: 3, question: idOf(3), asked: 'q' },
        },
        task: waiting,
        streams: [[{ task: done }]],
      },
      [['AUTH_REQUIRED', idOf(3)]],
    ],
    [
      'is over already',
      {
        known: { taskId: 'there', state: 'TASK_STATE_AUTH_REQUIRED', record: { asked: 'q' } },
        task: at('WORKING'),
        streams: [[{ task: done }]],
      },
      [],
    ],
    [
      'and another child too: what this one says would hide that',
      {
        authorizing: ['b'],
        streams: [
          [{ task: waiting }, became('WORKING', said('one')), became('WORKING', said('two')), { task: done }],
        ],
      },
      [['AUTH_REQUIRED', idOf(1)]],
    ],
  ])('%s', async (_, playing, expected) => {
    const { written, end, scope, logged } = await played(playing);
    expect(end).toEqual({ task: reply });
    expect(statuses(written)).toEqual(expected);
    expect([...scope.authorizing]).toEqual(playing.authorizing ?? []);
    expect(logged).toEqual([]);
  });

  const sent = (id: string) => derivedId('parent', 'a', 'message', id);
  const sends = (calls: unknown[][]) =>
    calls
      .filter(([name]) => name === 'send')
      .map(([, input, more]) => [input, (more as { messageId: string }).messageId]);

  it('takes what the user says meanwhile', async () => {
    const { calls } = await played({
      inbox: [user('one'), user('two')],
      streams: [[{ task: waiting }, { task: done }]],
    });
    expect(sends(calls)).toEqual(['one', 'two'].map((id) => [{ parts: [text(id)] }, sent(id)]));
  });

  it('takes what the user said before it was asked for', async () => {
    const { calls } = await played({
      messages: [user('m1'), user('one')],
      inbox: [user('one')],
      streams: [[{ task: waiting }, { task: done }]],
    });
    expect(sends(calls).map(([, id]) => id)).toEqual([sent('one')]);
  });

  it('and another one of the same child take one message after the other', async () => {
    const { calls } = await played({
      inbox: [user('one')],
      meanwhile: [user('two')],
      streams: [[{ task: waiting }, became('AUTH_REQUIRED', said('r')), became('AUTH_REQUIRED', said('s'))]],
    });
    for (let n = 0; n < 20; n += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(sends(calls).map(([, id]) => id)).toEqual([sent('one')]);
  });

  it('takes nothing that an attempt before took, and what it did not pass on', async () => {
    const known = {
      taskId: 'there',
      state: 'TASK_STATE_AUTH_REQUIRED' as const,
      record: { questions: 1, question: 'own', asked: 'q' },
    };
    const messages = [user('m1'), said('own'), user('one'), user('two')];
    const task = { ...waiting, history: [user(sent('one'))] };
    const { calls } = await played({
      known,
      attempt: 2,
      messages,
      task,
      inbox: [user('two'), user('three')],
      streams: [[{ task }, { task: done }]],
    });
    expect(sends(calls).map(([, id]) => id)).toEqual([sent('two'), sent('three')]);
  });

  it('that cannot be answered is reported by the child, and told to the operator', async () => {
    const failure = new A2AError('PERMISSION_DENIED');
    const { end, logged } = await played({
      inbox: [user('one')],
      sending: failure,
      streams: [[{ task: waiting }, { task: done }]],
    });
    expect(end).toEqual({ task: reply });
    expect(logged).toEqual([['warn', 'An answer did not reach the agent of a child', { err: failure }]]);
  });
});
