import { type HttpRequest, httpJsonServer, jsonRpcServer, type ServerCompatibility } from '@batonjs/bindings';
import type { AgentCard, AgentInterface } from '@batonjs/protocol';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it } from 'vitest';
import { rpc, say } from '../../../test/kit/rpc.ts';
import { serve } from '../../../test/kit/serve.ts';
import { messageOptions } from '../src/agent/caller.ts';
import { defaultLimits } from '../src/base/limits.ts';
import { mustBePositive, timeouts } from '../src/base/timeouts.ts';
import { type AgentServer, type AgentServerOptions, completed, reply } from '../src/index.ts';
import { turnDependencies } from '../src/runtime.ts';
import type { WorkerOptions } from '../src/worker.ts';

const card = { name: 'Test', description: 'For tests' };
const agent = () => reply('x');
const publicUrl = 'https://agents.example/one';
const cardPath = '/.well-known/agent-card.json';

const cardOf = async (server: AgentServer, url = publicUrl) => {
  const response = await server.fetch(
    new Request(`${url}${cardPath}`, { headers: { 'a2a-version': '1.0' } }),
  );
  return response.json();
};
const interfacesOf = async (server: AgentServer) =>
  (await cardOf(server)).supportedInterfaces.map(
    ({ url, protocolBinding, protocolVersion }: AgentInterface) =>
      `${protocolBinding} ${protocolVersion} ${url}`,
  );

/** The same wire, under the name of another version. */
const older = {
  bindings: [{ ...jsonRpcServer, version: '0.9' }],
  pushFormat: { version: '0.9' },
  impliedVersion: ({ path }: HttpRequest) => (path === '/' ? '0.9' : undefined),
  encodeCard: (known: AgentCard, version?: string) => (version === '0.9' ? { older: known.name } : undefined),
} as unknown as ServerCompatibility;

describe('the interfaces of a card', () => {
  const own = [`JSONRPC 1.0 ${publicUrl}`, `HTTP+JSON 1.0 ${publicUrl}`];
  const grpc = { url: 'agents.example:443', protocolBinding: 'GRPC', protocolVersion: '1.0' };

  it('are those of its bindings, and those that are added until they are taken back', async () => {
    const server = serve(agent, { publicUrl });
    expect(await interfacesOf(server)).toEqual(own);
    const removeOne = server.addInterface(grpc);
    const removeOther = server.addInterface({ ...grpc, url: 'agents.example:444' });
    expect(await interfacesOf(server)).toEqual([
      ...own,
      'GRPC 1.0 agents.example:443',
      'GRPC 1.0 agents.example:444',
    ]);
    removeOne();
    removeOne();
    expect(await interfacesOf(server)).toEqual([...own, 'GRPC 1.0 agents.example:444']);
    removeOther();
    expect(await interfacesOf(server)).toEqual(own);
  });

  it('are those that it was given, and no others', async () => {
    const supportedInterfaces = [{ ...grpc, url: 'given.example:443' }];
    const server = serve(agent, { publicUrl, card: { ...card, supportedInterfaces } });
    server.addInterface(grpc);
    expect(await interfacesOf(server)).toEqual(['GRPC 1.0 given.example:443']);
  });

  it('are of the bindings that the server was given', async () => {
    expect(await interfacesOf(serve(agent, { publicUrl, bindings: [httpJsonServer] }))).toEqual([own[1]]);
  });

  it('are of newer versions first, with those of other versions', async () => {
    const server = serve(agent, { publicUrl, compatibility: [older] });
    expect(await interfacesOf(server)).toEqual([...own, `JSONRPC 0.9 ${publicUrl}`]);
  });
});

describe('another version', () => {
  const ask = async (server: AgentServer, version?: string) => {
    const headers = { 'content-type': 'application/json', ...(version && { 'a2a-version': version }) };
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'SendMessage',
      params: { message: say('go') },
    });
    const response = await server.fetch(new Request(`${publicUrl}`, { method: 'POST', headers, body }));
    const { result, error } = await response.json();
    return result ? 'answered' : error.data[0].metadata.supportedVersions;
  };
  const listed = (protocolVersion: string, protocolBinding = 'JSONRPC') => ({
    card: { ...card, supportedInterfaces: [{ url: publicUrl, protocolBinding, protocolVersion }] },
  });

  it.each<[string, Partial<AgentServerOptions>, string]>([
    ['if the card lists nothing', {}, 'answered'],
    ['beside one that is not released', { compatibility: ['1.1', older] }, 'answered'],
    ['if the card lists it', listed('0.9.3'), 'answered'],
    ['not if the card lists another version', listed('1.0'), '1.0'],
    ['not if the card lists another binding', listed('0.9', 'GRPC'), '1.0'],
  ])('is spoken %s', async (_, options, expected) => {
    const server = serve(agent, { publicUrl, compatibility: [older], ...options });
    expect(await ask(server, '0.9')).toBe(expected);
    expect(await ask(server, '1.0')).toBe('answered');
  });

  it('is implied where no version is named, and has its own card', async () => {
    const server = serve(agent, { publicUrl: 'http://localhost', compatibility: [older] });
    const at = (version: string) =>
      server
        .fetch(new Request(`http://localhost${cardPath}`, { headers: { 'a2a-version': version } }))
        .then((response) => response.json());
    expect(await at('0.9')).toEqual({ older: 'Test' });
    expect(await at('1.0')).toMatchObject({ name: 'Test' });
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ListTasks', params: {} });
    const headers = { 'content-type': 'application/json' };
    const implied = await server.fetch(new Request('http://localhost/', { method: 'POST', headers, body }));
    expect((await implied.json()).result).toBeDefined();
    const other = await serve(agent).fetch(
      new Request('http://localhost/', { method: 'POST', headers, body }),
    );
    expect((await other.json()).error.data[0].metadata.requestedVersion).toBe('0.3');
  });

  it('that no binding serves is refused with all that are', async () => {
    expect(await ask(serve(agent, { publicUrl, compatibility: [older] }), '7.0')).toBe('1.0,0.9');
  });
});

describe('the options of a server', () => {
  const store = memoryStore();

  it('have defaults', () => {
    const { options, agent: given, telemetry, onCancel } = turnDependencies({ agent, store }, 'here');
    expect([given, telemetry, onCancel]).toEqual([agent, undefined, undefined]);
    expect(options).toEqual({
      ...{ queue: 'agent', run: 'here', isWorker: false, restart: 'fail', maxAttempts: 3 },
      ...{ pollMs: 1_000, schedule: undefined, compatibility: [], preview: false },
      ...{ timeouts, limits: defaultLimits, messages: messageOptions },
      retry: expect.objectContaining({ turns: expect.objectContaining({ retries: 0 }) }),
    });
    expect(turnDependencies({ agent, store }).options).toMatchObject({ run: 'here', isWorker: true });
  });

  it('are as they were given', () => {
    const given: Partial<WorkerOptions> = {
      restart: { maxAttempts: 7 },
      timeouts: { leaseMs: 1_500, cancelGraceMs: 6, storeMs: 8, interruptedMs: 9 },
      messages: { currentStatusInHistory: true },
    };
    const { options } = turnDependencies(
      { agent, store, name: 'q', limits: { turns: 2 }, ...given },
      'workers',
    );
    expect(options).toMatchObject({
      ...{ restart: 'rerun', maxAttempts: 7, timeouts: { ...timeouts, ...given.timeouts } },
      messages: { ...messageOptions, currentStatusInHistory: true },
      ...{ queue: 'q', run: 'workers', isWorker: false, pollMs: 500 },
      limits: { ...defaultLimits, turns: 2 },
    });
  });

  it.each<[object, string]>([
    [{ agent: 'x' }, '`agent` must be a function'],
    [{ store: undefined }, '`store` must be a task store, such as memoryStore()'],
    [{ store: {} }, '`store` must be a task store, such as memoryStore()'],
    [{ timeouts: { leaseMs: 0 } }, '`timeouts.leaseMs` must be more than 0'],
    [{ restart: { maxAttempts: Number.NaN } }, '`restart.maxAttempts` must be more than 0'],
    [{ timeouts: { sweepMs: -1 } }, '`timeouts.sweepMs` must be more than 0'],
    [
      { push: false, card: { ...card, capabilities: { pushNotifications: true } } },
      '`card.capabilities.pushNotifications` needs a store that keeps webhooks, and `push`',
    ],
    [{ card: { ...card, extended: {} } }, '`card.extended` needs `authenticate`'],
    [
      { card: { ...card, sign: () => card } },
      '`card.sign` needs `publicUrl`: without it, each request would choose the address that is signed',
    ],
    [{ cors: { credentials: true } }, '`cors.credentials` needs `cors.origins`'],
  ])('such as %j are refused', (wrong, message) => {
    expect(() => serve(agent, wrong)).toThrow(new TypeError(message));
  });

  it('that are numbers may be any that are more than 0', () => {
    expect(() => mustBePositive('x', { a: 0.1, b: Number.POSITIVE_INFINITY })).not.toThrow();
    expect(() => mustBePositive('x', { a: 1, b: 0 })).toThrow('`x.b` must be more than 0');
  });

  it('may have hooks that fail: that is logged by the name of the hook, and changes nothing', async () => {
    const lines: unknown[][] = [];
    const error = new Error('x');
    const fail = () => {
      throw error;
    };
    const hooks = { onEvent: fail, logger: (...line: unknown[]) => lines.push(line) };
    const { onEvent } = turnDependencies({ agent, store, ...hooks });
    for (const type of ['transition', 'rerun']) onEvent({ type } as never);
    expect(lines.filter(([level]) => level === 'error')).toEqual(
      Array(2).fill(['error', 'The event hook failed', { err: error }]),
    );
  });

  it.each(['', '/', '//', '///'])('may end their public URL with %j', async (end) => {
    const server = serve(agent, { publicUrl: `${publicUrl}${end}` });
    expect(await interfacesOf(server)).toEqual([`JSONRPC 1.0 ${publicUrl}`, `HTTP+JSON 1.0 ${publicUrl}`]);
    const root = serve(agent, { publicUrl: `https://agents.example${end}` });
    expect((await cardOf(root, 'https://agents.example')).supportedInterfaces[0].url).toBe(
      (await cardOf(serve(agent, { publicUrl: 'https://agents.example' }), 'https://agents.example'))
        .supportedInterfaces[0].url,
    );
  });

  it('tell the hooks and the telemetry of turns and transitions', async () => {
    const told: unknown[] = [];
    const span = { run: <T>(fn: () => T) => fn(), end() {} };
    const telemetry = {
      turn: () => ({ ...span, updated() {}, step: () => span, replayed() {} }),
      request: () => ({ ...span, received() {}, streams() {}, saw() {} }),
      transition: (from?: string, to?: string) => told.push(['telemetry', from, to]),
      turnEvent() {},
    };
    const onEvent = ({ from, to }: { from?: string; to: string }) => told.push(['hook', from, to]);
    const works = async function* () {
      yield completed('Done');
    };
    for (const more of [{ telemetry }, {}]) {
      const server = serve(works, { onEvent, ...more } as unknown as Partial<AgentServerOptions>);
      await rpc(server, 'SendMessage', { message: say('go') });
    }
    const [submitted, done] = ['TASK_STATE_SUBMITTED', 'TASK_STATE_COMPLETED'];
    expect(told.filter((one) => (one as string[])[0] === 'telemetry')).toEqual([
      ['telemetry', undefined, submitted],
      ['telemetry', submitted, done],
    ]);
    expect(told.filter((one) => (one as string[])[0] === 'hook').length).toBe(4);
  });
});

it('a server says how much it does, and is ready until it closes', async () => {
  const started = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const server = serve(async function* () {
    started.resolve();
    await goOn.promise;
    yield completed('Done');
  });
  const before = [server.load, server.limits, await server.ready()];
  expect(before).toEqual([{ turns: 0, tasks: 0 }, defaultLimits, true]);
  await rpc(server, 'SendMessage', { message: say('go'), configuration: { returnImmediately: true } });
  await started.promise;
  expect([server.load, server.closing.aborted]).toEqual([{ turns: 1, tasks: 1 }, false]);
  goOn.resolve();
  await server.close();
  expect([server.closing.aborted, await server.ready(), server.load.turns]).toEqual([true, false, 0]);
});

it('a server deletes what ended before a time', async () => {
  const server = serve(
    async function* () {
      yield completed('Done');
    },
    { publicUrl: 'https://agents.example/one//' },
  );
  const send = () =>
    rpc({ fetch: (request) => server.fetch(new Request(`${publicUrl}`, request)) }, 'SendMessage', {
      message: say('x'),
    });
  await send();
  await send();
  expect(await server.prune({ closedBefore: 0 })).toBe(0);
  const closedBefore = Date.now() + 60_000;
  expect(await server.prune({ closedBefore, limit: 1 })).toBe(1);
  expect(await server.prune({ closedBefore })).toBe(1);
});
