import { anyOf, apiKey, bearerJwt } from '@batonjs/auth';
import type { AgentCard } from '@batonjs/protocol';
import { errorTable } from '@batonjs/protocol/errors';
import { type OperationName, operationNames, operations } from '@batonjs/protocol/operations';
import { A2AError, type Authenticate, completed } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it } from 'vitest';
import { say } from '../../kit/rpc.ts';
import { everywhere, everywhereOverHttp, open, type Peer } from '../peer.ts';

const byKey = apiKey({
  header: 'X-API-Key',
  keys: new Map([
    ['key-of-ada', { scope: 'ada', claims: { name: 'Ada' } }],
    ['key-of-bob', { scope: 'bob' }],
  ]),
});
const byToken = bearerJwt({
  issuer: 'https://id.example',
  audience: 'https://agent.example',
  jwks: [],
  scopes: ['tasks'],
});
const done = async function* () {
  yield completed('Done');
};

/** A request for every operation, on the binding of the peer. */
const params = (id: string) => ({
  message: say('go'),
  id,
  taskId: id,
  url: 'https://client.example/hook',
});

/** What a client is told that may not make a call. */
async function answerTo(peer: Peer, operation: OperationName, headers: Record<string, string>) {
  if (peer.binding === 'GRPC') {
    const { kind } = operations[operation];
    const answer = kind === 'stream' ? peer.stream(operation, params('x'), headers).next() : undefined;
    const error: A2AError = await (answer ?? peer.call(operation, params('x'), headers)).then(
      () => expect.unreachable('The call was answered'),
      (thrown) => thrown,
    );
    return { status: errorTable[error.reason].http, challenge: error.challenge, text: error.reason };
  }
  const response = await responseTo(peer, operation, headers);
  const challenge = response.headers.get('www-authenticate');
  return { status: response.status, challenge, text: await response.text() };
}

/** The answer to an operation over HTTP. */
function responseTo(peer: Peer, operation: OperationName, headers: Record<string, string>) {
  const [rule] = operations[operation].http;
  const [method = '', template = ''] = rule.split(' ');
  const isRpc = peer.binding === 'JSONRPC';
  const path = isRpc ? '' : template.replace(/\{\w+\}/g, 'x');
  const body = isRpc ? { jsonrpc: '2.0', id: 1, method: operation, params: params('x') } : params('x');
  return peer.fetch(path, {
    method: isRpc ? 'POST' : method,
    headers: { 'content-type': 'application/json', 'a2a-version': '1.0', ...headers },
    ...((isRpc || method === 'POST') && { body: JSON.stringify(body) }),
  });
}

everywhere('Credentials', (serve) => {
  it.each(operationNames)(
    'are asked of %s first of all [R-OP-02] [R-AUTH-01] [R-ERR-08]',
    async (operation) => {
      const peer = await serve(done, { authenticate: byKey });
      for (const headers of [{}, { 'x-api-key': 'wrong' }, { authorization: 'Bearer key-of-ada' }]) {
        const answer = await answerTo(peer, operation, headers as Record<string, string>);
        expect(answer.status).toBe(401);
        expect(answer.challenge).toBe('ApiKey realm="apiKey", in="header", name="X-API-Key"');
        expect(answer.text).toContain('UNAUTHENTICATED');
      }
    },
  );

  it('are not asked for the card [R-CARD-01]', async () => {
    const { fetch } = await serve(done, { authenticate: byKey });
    expect((await fetch('/.well-known/agent-card.json')).status).toBe(200);
  });

  it('make a caller, whose claims the agent gets [R-AUTH-02]', async () => {
    const { call } = await serve(
      async function* ({ caller }) {
        yield completed(`Hello, ${caller.name}`);
      },
      { authenticate: byKey },
    );
    const { task } = await call('SendMessage', { message: say('go') }, { 'x-api-key': 'key-of-ada' });
    expect(task.status.message.parts).toEqual([{ text: 'Hello, Ada' }]);
  });

  it('that do not suffice are refused with the missing scope [R-ERR-08]', async () => {
    const authenticate: Authenticate = () => {
      throw new A2AError('PERMISSION_DENIED', undefined, {
        metadata: { scope: 'tasks' },
        challenge: 'Bearer scope="tasks"',
      });
    };
    const peer = await serve(done, { authenticate });
    const answer = await answerTo(peer, 'GetTask', {});
    expect(answer.status).toBe(403);
    expect(answer.challenge).toBe('Bearer scope="tasks"');
    await expect(peer.call('GetTask', { id: 'x' })).rejects.toMatchObject({
      reason: 'PERMISSION_DENIED',
      metadata: { scope: 'tasks' },
    });
  });

  it('without the scopes that the card requires are refused with the missing ones [R-AUTH-01] [R-ERR-08]', async () => {
    const authenticate: Authenticate = Object.assign(
      ({ headers }: Parameters<Authenticate>[0]) => ({
        scope: 'ada',
        ...(headers['x-scopes'] && { scopes: headers['x-scopes'].split(' ') }),
        ...(headers['x-scheme'] && { schemes: [headers['x-scheme']] }),
      }),
      {
        securitySchemes: { ...byKey.securitySchemes, ...byToken.securitySchemes },
        securityRequirements: [
          { schemes: { apiKey: { list: [] } } },
          { schemes: { bearer: { list: ['read', 'tasks'] } } },
        ] as NonNullable<Authenticate['securityRequirements']>,
      },
    );
    const peer = await serve(done, { authenticate });
    const byBearer = { 'x-scheme': 'bearer', 'x-scopes': 'read' };
    const answer = await answerTo(peer, 'GetTask', byBearer);
    expect(answer.status).toBe(403);
    expect(answer.challenge).toContain('Bearer realm="bearer", error="insufficient_scope", scope="tasks"');
    await expect(peer.call('ListTasks', {}, byBearer)).rejects.toMatchObject({
      reason: 'PERMISSION_DENIED',
      message: 'This agent needs the scope tasks',
      metadata: { scope: 'tasks' },
    });
    const allowed: Record<string, string>[] = [
      { 'x-scheme': 'bearer', 'x-scopes': 'tasks more read' },
      { 'x-scheme': 'apiKey', 'x-scopes': 'none' },
      { 'x-scheme': 'bearer' },
    ];
    for (const headers of allowed) expect((await peer.call('ListTasks', {}, headers)).tasks).toEqual([]);
  });

  it('that cannot be checked are a fault of the server, which only its log shows', async () => {
    const logged: unknown[] = [];
    const authenticate: Authenticate = () => {
      throw new A2AError('UNAVAILABLE', undefined, { cause: new Error('hunter2'), retryAfter: 1 });
    };
    const { call } = await serve(done, {
      authenticate,
      logger: (_level, _message, details) => void logged.push(details.err),
    });
    const error = await call('GetTask', { id: 'x' }).catch((thrown) => thrown);
    expect(error).toMatchObject({ reason: 'UNAVAILABLE', retryAfter: 1 });
    expect(JSON.stringify(error)).not.toContain('hunter2');
    expect(logged).toEqual([expect.objectContaining({ cause: new Error('hunter2') })]);
  });

  it('are what the card says they are [R-AUTH-01] [R-CARD-05]', async () => {
    const { fetch } = await serve(done, { authenticate: anyOf(byToken, byKey) });
    const response = await fetch('/.well-known/agent-card.json');
    const card: AgentCard = await response.json();
    expect(card.securitySchemes).toEqual({ ...byToken.securitySchemes, ...byKey.securitySchemes });
    expect(card.securityRequirements).toEqual([
      { schemes: { bearer: { list: ['tasks'] } } },
      { schemes: { apiKey: { list: [] } } },
    ]);
    expect(JSON.stringify(card)).not.toContain('key-of-ada');
    const peer = await serve(done, { authenticate: anyOf(byToken, byKey) });
    expect((await answerTo(peer, 'GetTask', {})).challenge).toBe(
      'Bearer realm="bearer", scope="tasks", ApiKey realm="apiKey", in="header", name="X-API-Key"',
    );
  });

  it('may be described by the card itself [R-DM-48]', async () => {
    const securitySchemes: AgentCard['securitySchemes'] = {
      basic: { httpAuthSecurityScheme: { scheme: 'Basic' } },
      login: { openIdConnectSecurityScheme: { openIdConnectUrl: 'https://id.example' } },
      tls: { mtlsSecurityScheme: {} },
      cookie: { apiKeySecurityScheme: { location: 'cookie', name: 'session' } },
    };
    const peer = await serve(done, {
      authenticate: byKey,
      card: { name: 'Row', description: 'For tests', securitySchemes },
    });
    const card = await (await peer.fetch('/.well-known/agent-card.json')).json();
    expect(card.securitySchemes).toEqual(securitySchemes);
    expect((await answerTo(peer, 'GetTask', {})).challenge).toBe(
      'Basic realm="basic", Bearer realm="login", ApiKey realm="cookie", in="cookie", name="session"',
    );
  });
});

everywhereOverHttp('Credentials and caches', (serve) => {
  it('make answers private to the caller', async () => {
    const peer = await serve(done, { authenticate: byKey });
    for (const headers of [{ 'x-api-key': 'key-of-ada' }, {}])
      for (const operation of ['GetTask', 'ListTasks', 'SendMessage'] as const) {
        const response = await responseTo(peer, operation, headers as Record<string, string>);
        expect(response.headers.get('cache-control')).toBe('no-store');
      }
  });
});

describe('Callers', () => {
  it('may have names of any length, and every store can keep their tasks apart [R-OP-03]', async () => {
    const inner = memoryStore();
    const scopes: string[] = [];
    const store = Object.assign(inner, {
      commit: ((commit) => (request) => {
        scopes.push(request.scope);
        return commit.call(inner, request);
      })(inner.commit) as typeof inner.commit,
    });
    const authenticate: Authenticate = ({ headers }) => ({
      scope: `${'é"\ud800'.repeat(2_000)}${headers.who}`,
    });
    const setting = { binding: 'HTTP+JSON', adapter: 'Express', store: 'memory' } as const;
    const { call } = await open(setting, done, { authenticate, store });
    const { task } = await call('SendMessage', { message: say('go') }, { who: 'a' });
    await expect(call('GetTask', { id: task.id }, { who: 'a' })).resolves.toMatchObject({ id: task.id });
    await expect(call('GetTask', { id: task.id }, { who: 'b' })).rejects.toMatchObject({
      reason: 'TASK_NOT_FOUND',
    });
    expect(scopes.length).toBeGreaterThan(0);
    for (const scope of scopes) {
      expect(scope.length).toBeLessThanOrEqual(1_024);
      expect(scope.isWellFormed()).toBe(true);
    }
  });
});

describe('A caller without a scope', () => {
  it.each([undefined, null, '', 7, {}])('is refused, and shares no tasks with others: %j', async (scope) => {
    const logged: unknown[] = [];
    const { call } = await open({ binding: 'JSONRPC', adapter: 'in process', store: 'memory' }, done, {
      authenticate: () => ({ scope }) as never,
      logger: (_level, _message, details) => void logged.push(details.err),
    });
    for (const operation of ['SendMessage', 'ListTasks'] as const)
      await expect(call(operation, params('x'))).rejects.toMatchObject({ reason: 'INTERNAL_ERROR' });
    expect(String(logged[0])).toContain('`authenticate` must return a caller whose `scope`');
  });
});
