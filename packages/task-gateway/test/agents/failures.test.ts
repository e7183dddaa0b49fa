import { A2AError, type AgentClient, ClientError, connect } from '@batonjs/client';
import { SkillError } from '@batonjs/extensions/client';
import { Unreachable } from '@batonjs/nested-tasks/internals';
import { errorTable } from '@batonjs/protocol/errors';
import { type Agent, type AgentServerOptions, authRequired, completed, working } from '@batonjs/server';
import { describe, expect, it } from 'vitest';
import { serve } from '../../../../test/kit/serve.ts';
import { untilAborted } from '../../../../test/kit/until-aborted.ts';
import { serveTasks } from '../service.ts';

const done: Agent = async function* () {
  yield completed('Done');
};

/** A client of an agent, some of whose methods the test plays. */
async function playing(
  methods: Partial<Record<keyof AgentClient, unknown>>,
  agent = done,
  options: Partial<AgentServerOptions> = {},
) {
  const server = serve(agent, options);
  const client = await connect('http://localhost', { fetch: server.fetch });
  return new Proxy(client, {
    get: (target, name) =>
      Object.hasOwn(methods, name) ? methods[name as keyof AgentClient] : Reflect.get(target, name),
  });
}

const throwing = (error: unknown) => () => {
  throw error;
};

describe('an error at the agent', () => {
  const internal = { code: 'INTERNAL_ERROR', message: 'The gateway failed' };
  const unreachable = { code: 'AGENT_UNREACHABLE', message: 'The agent cannot be reached' };
  const unavailable = { ...unreachable, message: 'The agent is not available' };

  it.each<[string, unknown, object]>([
    [
      'an error of a skill',
      new SkillError('UNREADABLE_SCHEMA', 'Too long'),
      { code: 'UNREADABLE_SCHEMA', message: 'Too long' },
    ],
    [
      'wrong input',
      new SkillError('INVALID_INPUT', 'It does not fit', [
        { path: 'a.b', message: 'must be a number' },
        { path: '', message: 'must be an object' },
      ]),
      { code: 'INVALID_INPUT', message: 'It does not fit; a.b: must be a number; must be an object' },
    ],
    ['no agent', new A2AError('UNAVAILABLE', 'secret'), unreachable],
    ['a busy agent', new A2AError('RESOURCE_EXHAUSTED', 'secret'), unreachable],
    ['an agent out of reach', new Unreachable('The agent cannot be reached'), unreachable],
    [
      'a refusal',
      new A2AError('PERMISSION_DENIED', 'secret'),
      { code: 'PERMISSION_DENIED', message: errorTable.PERMISSION_DENIED.message },
    ],
    ['a broken connection', new ClientError('NETWORK', 'secret'), unreachable],
    ['a timeout', new ClientError('TIMEOUT', 'secret'), unreachable],
    [
      'a large answer',
      new ClientError('RESPONSE_TOO_LARGE', 'secret'),
      { code: 'AGENT_FAILED', message: 'The agent cannot be used' },
    ],
    [
      'an error with words for clients',
      new A2AError('INVALID_PARAMS', 'No such day'),
      { code: 'INVALID_PARAMS', message: 'No such day' },
    ],
    ['anything else', new Error('secret'), internal],
    ['no error at all', undefined, internal],
  ])('that is %s is the failure of the task', async (_, error, expected) => {
    const logged: unknown[] = [];
    const broken = await playing({ stream: throwing(error) });
    const logger = (...entry: unknown[]) => logged.push(entry);
    const service = await serveTasks({ types: { broken }, unreachableMs: 1, logger });
    await service.post('/task', { taskId: 't', type: 'broken', data: {} });
    expect((await service.ended('t')).error).toEqual(expected);
    const taskId = expect.any(String);
    expect(logged).toContainEqual([
      'warn',
      'A task could not be done at its agent',
      expect.objectContaining({ taskId }),
    ]);
  });

  it.each<[string, unknown, object]>([
    ['that is away', new A2AError('UNAVAILABLE', 'secret'), unavailable],
    ['that is busy', new A2AError('RESOURCE_EXHAUSTED', 'secret'), unavailable],
    ['that cannot be reached', new ClientError('NETWORK', 'secret'), unreachable],
    [
      'that is late',
      new ClientError('TIMEOUT', 'secret'),
      { code: 'TIMEOUT', message: 'The agent did not answer in time' },
    ],
    [
      'that lost the task',
      new A2AError('TASK_NOT_FOUND', 'Gone'),
      { code: 'TASK_NOT_FOUND', message: 'Gone' },
    ],
  ])('of an agent %s while it is followed is the failure of the task', async (_, error, expected) => {
    const asking: Agent = async function* ({ messages }) {
      yield messages.length === 1 ? { status: { state: 'TASK_STATE_INPUT_REQUIRED' } } : completed();
    };
    const broken = await playing({ follow: throwing(error) }, asking);
    const service = await serveTasks({ types: { broken } });
    await service.post('/task', { taskId: 't', type: 'broken', data: {} });
    expect((await service.ended('t')).error).toEqual(expected);
  });

  it('that ends its stream without an event is a failure of the gateway', async () => {
    const stream = () => ({ [Symbol.asyncIterator]: () => ({ next: async () => ({ done: true }) }) });
    const errors: unknown[] = [];
    const logger = (_: string, __: string, details?: object) => errors.push(Object(details).err);
    const service = await serveTasks({ types: { empty: await playing({ stream }) }, logger });
    await service.post('/task', { taskId: 't', type: 'empty', data: {} });
    expect((await service.ended('t')).error).toEqual(internal);
    expect(errors).toContainEqual(new TypeError('The agent ended its stream without an event'));
  });

  it.each(['none', 'none/skill', 'done/none'])('of the type %s is that there is none', async (type) => {
    const service = await serveTasks({ types: { done: serve(done) } });
    await service.post('/task', { taskId: 't', type, data: {} });
    expect((await service.ended('t')).error).toEqual({
      code: 'INVALID_TASK_TYPE',
      message: `There is no task type "${type}"`,
    });
  });
});

describe('what the agent is sent', () => {
  /** The parts and metadata of the first message, the extensions of its request, and its ids. */
  async function sent(data: object, card: object = {}) {
    const seen: Parameters<Extract<Agent, (turn: never) => AsyncGenerator<never>>>[0][] = [];
    const server = serve(
      async function* (turn) {
        seen.push(turn as never);
        yield completed();
      },
      { card: { name: 'Seen', description: 'For tests', ...card } },
    );
    const service = await serveTasks({ types: { seen: server } });
    await service.post('/task', { taskId: 't', type: 'seen', data });
    await service.ended('t');
    const { messages, extensions } = seen[0] as unknown as {
      messages: { parts: unknown; metadata?: object }[];
      extensions: string[];
    };
    return { ...messages[0]!, extensions };
  }

  it.each<[string[] | undefined, boolean]>([
    [undefined, true],
    [[], true],
    [['*/*'], true],
    [['application/json'], true],
    [['text/plain', 'application/json; charset=utf-8'], true],
    [['application/*'], true],
    [['text/plain'], false],
    [['text/plain', 'text/application/json'], false],
    [['text/plain', 'application/pdf'], false],
  ])('by the modes %j is data: %s', async (defaultInputModes, isData) => {
    const { parts } = await sent({ text: 'Hello' }, defaultInputModes && { defaultInputModes });
    expect(parts).toEqual(isData ? [{ data: { text: 'Hello' } }] : [{ text: 'Hello' }]);
  });

  it('is JSON as text where there is no text', async () => {
    const text = async (data: object) => (await sent(data, { defaultInputModes: ['text/plain'] })).parts;
    expect(await text({ text: 7 })).toEqual([{ text: '{"text":7}' }]);
    expect(await text({})).toEqual([{ text: '{}' }]);
  });
});

describe('a cancel', () => {
  const endless: Agent = async function* ({ signal }) {
    yield working('Started');
    await untilAborted(signal);
    yield completed('Done anyway');
  };

  it('that the agent answers with its end leaves what the agent did', async () => {
    const service = await serveTasks({ types: { endless: serve(endless, {}) } });
    await service.post('/task', { taskId: 't', type: 'endless', data: {} });
    await service.until('t', ({ status }) => status === 'in_progress');
    await service.post('/task/t/cancel');
    expect((await service.ended('t')).status).toBe('canceled');
  });

  it.each<[string, Partial<Record<keyof AgentClient, unknown>>]>([
    ['cannot cancel', { cancelTask: () => Promise.reject(new A2AError('UNSUPPORTED_OPERATION')) }],
    ['is away', { cancelTask: () => Promise.reject(new ClientError('NETWORK', 'Away')) }],
  ])('needs no agent: one that %s', async (_, methods) => {
    const service = await serveTasks({ types: { endless: await playing(methods, endless) } });
    await service.post('/task', { taskId: 't', type: 'endless', data: {} });
    await service.until('t', ({ status }) => status === 'in_progress');
    await service.post('/task/t/cancel');
    expect((await service.ended('t')).status).toBe('canceled');
  });

  it('of a task that ended at the agent before leaves its result', async () => {
    const ended = Promise.withResolvers<void>();
    const client = await playing({}, async function* ({ inbox }) {
      yield authRequired('Wait');
      await inbox.take();
      yield completed('Too late');
    });
    const held = new Proxy(client, {
      get(target, name) {
        if (name !== 'cancelTask') return Reflect.get(target, name);
        return async ({ id }: { id: string }) => {
          // Somebody else answers, just before.
          const reply = await target.send('Go on', { task: id });
          ended.resolve();
          throw new A2AError('TASK_NOT_CANCELABLE', reply.task?.status.state ?? '');
        };
      },
    });
    const service = await serveTasks({ types: { held } });
    await service.post('/task', { taskId: 't', type: 'held', data: {} });
    await service.until('t', ({ form }) => form);
    await service.post('/task/t/cancel');
    await ended.promise;
    expect(await service.ended('t')).toMatchObject({ status: 'completed', result: { text: 'Too late' } });
  });
});
