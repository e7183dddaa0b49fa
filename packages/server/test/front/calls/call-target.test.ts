import type { CallEvents, IncomingCall } from '@batonjs/bindings';
import { A2AError } from '@batonjs/protocol/errors';
import { GENERATION } from '@batonjs/protocol/headers';
import { describe, expect, it } from 'vitest';
import { say } from '../../../../../test/kit/rpc.ts';
import { serve } from '../../../../../test/kit/serve.ts';
import type { RequestHead } from '../../../src/front/calls/caller-limits.ts';
import {
  type Agent,
  type AgentServer,
  type AgentServerOptions,
  artifact,
  completed,
  reply,
} from '../../../src/index.ts';

const echo: Agent = ({ text }) => reply(text);
const works: Agent = async function* () {
  yield artifact('a', 'x');
  yield completed('Done');
};

const call = (more: Partial<IncomingCall> = {}): IncomingCall => ({
  ...{ operation: 'SendMessage', binding: 'GRPC', version: '1.0', path: '/a2a.v1/SendMessage' },
  headers: { 'a2a-version': '1.0' },
  signal: new AbortController().signal,
  readParams: () => ({ message: say('hi') }),
  ...more,
});

const resultOf = async (server: AgentServer, more?: Partial<IncomingCall>) => {
  const answer = await server.answerCall(call(more));
  if (!('result' in answer)) throw new Error('It is a stream');
  // biome-ignore lint/suspicious/noExplicitAny: tests read results with matchers
  return answer.result as any;
};

async function* eventsOf(events: CallEvents) {
  for (let next = await events.next(); next; next = await events.next()) {
    expect(next.events.length).toBeGreaterThan(0);
    yield* next.events.map(({ event }) => Object.keys(event.value as object)[0]);
  }
}

describe('a call of a binding that is not HTTP', () => {
  it('is answered with a result, or with the events of a stream from the first', async () => {
    expect((await resultOf(serve(echo))).message.parts).toEqual([{ text: 'hi' }]);
    const answer = await serve(works).answerCall(call({ operation: 'SendStreamingMessage' }));
    if (!('events' in answer)) throw new Error('It is no stream');
    const kinds = [];
    for await (const kind of eventsOf(answer.events)) kinds.push(kind);
    expect(kinds[0]).toBe('task');
    expect(answer.extensions).toEqual([]);
  });

  it('has no events before there are some, where an agent thinks first', async () => {
    const thought = Promise.withResolvers<void>();
    const thinks: Agent = async () => {
      await thought.promise;
      return reply('Hi');
    };
    const answer = await serve(thinks).answerCall(call({ operation: 'SendStreamingMessage' }));
    if (!('events' in answer)) throw new Error('It is no stream');
    const kinds = (async () => {
      const all: unknown[] = [];
      for await (const kind of eventsOf(answer.events)) all.push(kind);
      return all;
    })();
    thought.resolve();
    expect(await kinds).toEqual(['message']);
  });

  it('ends its stream when it is closed', async () => {
    const waits: Agent = async function* (turn) {
      yield artifact('a', 'x');
      await new Promise((resolve) => turn.signal.addEventListener('abort', resolve));
    };
    const answer = await serve(waits).answerCall(call({ operation: 'SendStreamingMessage' }));
    if (!('events' in answer)) throw new Error('It is no stream');
    expect(await answer.events.next()).toBeDefined();
    answer.events.close();
    for (let next = await answer.events.next(); next; ) next = await answer.events.next();
  });

  it.each<[Record<string, string>, string, string | undefined]>([
    [{ 'a2a-version': '1.0' }, '1.0', undefined],
    [{ 'a2a-version': '1.0.7' }, '1.0', undefined],
    [{}, '0.3', undefined],
    [{}, '1.0', '0.3'],
    [{ 'a2a-version': '0.3' }, '1.0', '0.3'],
    [{ 'a2a-version': '1.1' }, '1.0', '1.1'],
  ])('with %j, over version %s of the binding', async (headers, version, refused) => {
    const asked = resultOf(serve(echo), { headers, version });
    if (refused === undefined) expect(await asked).toBeDefined();
    else
      await expect(asked).rejects.toMatchObject({
        reason: 'VERSION_NOT_SUPPORTED',
        message: `Version ${refused} is not supported here; send A2A-Version: ${version}`,
        metadata: { requestedVersion: refused, supportedVersions: version },
      });
  });

  it('of the coming version activates its extension, where the server has that', async () => {
    const headers = { 'a2a-version': '1.1' };
    const answer = await serve(works, { compatibility: ['1.1'] }).answerCall(call({ headers }));
    expect(answer.extensions).toEqual([GENERATION]);
    await expect(
      resultOf(serve(works, { compatibility: ['1.1'] }), { headers, version: '0.3' }),
    ).rejects.toThrow('Version 1.1 is not supported here');
  });

  it('activates the extensions that it asks for and the card declares, in either header', async () => {
    const extensions = [{ uri: 'https://x.example/a' }, { uri: 'https://x.example/b' }];
    const card = { name: 'n', description: 'd', capabilities: { extensions } };
    for (const header of ['a2a-extensions', 'x-a2a-extensions']) {
      const headers = { 'a2a-version': '1.0', [header]: 'https://x.example/a, https://x.example/other' };
      const { extensions: active } = await serve(echo, { card }).answerCall(call({ headers }));
      expect(active).toEqual(['https://x.example/a']);
    }
    const required = [{ uri: 'https://x.example/a', required: true }];
    await expect(
      resultOf(serve(echo, { card: { ...card, capabilities: { extensions: required } } })),
    ).rejects.toMatchObject({
      ...{ reason: 'EXTENSION_SUPPORT_REQUIRED', metadata: { extension: 'https://x.example/a' } },
      message: 'This agent requires the extension https://x.example/a',
    });
  });

  it('shows `authenticate` a POST with its own headers, or the GET that opened its connection', async () => {
    const heads: RequestHead[] = [];
    const server = serve(echo, {
      authenticate: (head) => {
        heads.push(head);
        return { scope: 'ada' };
      },
    });
    const remoteAddress = '192.0.2.1';
    await server.answerCall(call({ remoteAddress }));
    await server.answerCall(call({ remoteAddress, opening: { cookie: 'c' } }));
    expect(await server.checkCaller({ path: '/ws', headers: { cookie: 'd' } })).toBe('ada');
    const path = '/a2a.v1/SendMessage';
    expect(heads.map(({ query, ...head }) => ({ ...head, query: String(query) }))).toEqual([
      { method: 'POST', path, query: '', headers: { 'a2a-version': '1.0' }, remoteAddress },
      { method: 'GET', path, query: '', headers: { cookie: 'c' }, remoteAddress },
      { method: 'GET', path: '/ws', query: '', headers: { cookie: 'd' }, remoteAddress: undefined },
    ]);
  });

  it('opens a connection for anybody where nobody is asked who he is', async () => {
    expect(await serve(echo).checkCaller({ path: '/ws', headers: {} })).toBeUndefined();
  });

  it('of a caller who is refused says what is asked for, and reads no params', async () => {
    const authenticate = Object.assign(() => undefined, {
      securitySchemes: { token: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
    });
    const server = serve(echo, { authenticate });
    const refusal = { reason: 'UNAUTHENTICATED', challenge: 'Bearer realm="token"' };
    const readParams = () => {
      throw new Error('It was read');
    };
    await expect(server.answerCall(call({ readParams }))).rejects.toMatchObject(refusal);
    await expect(server.checkCaller({ path: '/ws', headers: {} })).rejects.toMatchObject(refusal);
  });

  it('that fails inside is logged with its id, and says nothing of it', async () => {
    const lines: unknown[][] = [];
    const authenticate = () => {
      throw new Error('hunter2');
    };
    const server = serve(echo, { authenticate, logger: (...line) => lines.push(line) });
    const headers = { 'x-request-id': 'req-1', 'a2a-version': '1.0' };
    const failures = [
      await server.answerCall(call({ headers })).catch((error) => error),
      await server.checkCaller({ path: '/ws', headers }).catch((error) => error),
    ];
    for (const error of failures) {
      expect(A2AError.is(error, 'INTERNAL_ERROR')).toBe(true);
      expect(error.message).not.toContain('hunter2');
    }
    expect(lines.map(([level, , details]) => [level, details])).toMatchObject([
      ['error', { requestId: 'req-1', operation: 'SendMessage', path: '/a2a.v1/SendMessage' }],
      ['error', { requestId: 'req-1', path: '/ws' }],
    ]);
  });

  it('is counted among the requests and the messages of its caller', async () => {
    const hourly = (limit: number) => ({ limit, perMs: 3_600_000 });
    const limits: NonNullable<AgentServerOptions['limits']>['callers'] = {
      ...{ requests: hourly(3), messages: hourly(1), callerOf: () => 'ada' },
    };
    const server = serve(echo, { limits: { callers: limits } });
    await resultOf(server);
    await expect(resultOf(server)).rejects.toThrow('Too many messages');
    const list = { operation: 'ListTasks' as const, readParams: () => ({}) };
    await resultOf(server, list);
    await expect(resultOf(server, list)).rejects.toThrow('Too many requests');
  });

  it('that cannot be read is refused before its messages are counted, and after its version', async () => {
    const callers = { messages: { limit: 1, perMs: 3_600_000 }, callerOf: () => 'ada' };
    const server = serve(echo, { limits: { callers } });
    const readParams = () => {
      throw new A2AError('INVALID_PARAMS');
    };
    for (let times = 0; times < 2; times++)
      await expect(resultOf(server, { readParams })).rejects.toMatchObject({ reason: 'INVALID_PARAMS' });
    await expect(resultOf(server, { readParams, version: '0.3' })).rejects.toMatchObject({
      reason: 'VERSION_NOT_SUPPORTED',
    });
    expect(await resultOf(server)).toBeDefined();
  });

  it('is refused while the server closes', async () => {
    const server = serve(echo);
    await server.close();
    await expect(resultOf(server)).rejects.toMatchObject({
      ...{ reason: 'UNAVAILABLE', message: 'The server is closing', retryAfter: 1 },
    });
  });

  it.each([
    [{ streaming: false }, 'SendStreamingMessage', 'UNSUPPORTED_OPERATION'],
    [{ pushNotifications: false }, 'GetTaskPushNotificationConfig', 'PUSH_NOTIFICATION_NOT_SUPPORTED'],
    [{}, 'GetExtendedAgentCard', 'UNSUPPORTED_OPERATION'],
  ] as const)('is refused where the card says %j: %s', async (capabilities, operation, reason) => {
    const server = serve(echo, { card: { name: 'n', description: 'd', capabilities } });
    await expect(resultOf(server, { operation })).rejects.toMatchObject({ reason });
  });
});
