import { grpcClient, listenGrpc } from '@batonjs/bindings-grpc';
import { v03, v03Client } from '@batonjs/bindings-v0-3';
import { type ConnectOptions, type Credentials, dataOf } from '@batonjs/client';
import { skill, typedSkills } from '@batonjs/extensions';
import { completed } from '@batonjs/server';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { memoryTokenStore, oauth } from '../src/index.ts';
import { audience, failureOf, guardedAgent, schemes, textIn } from './agent.ts';
import { type AuthorizationServer, secret, startAuthorizationServer } from './authorization-server.ts';

let id: AuthorizationServer;
beforeAll(async () => {
  id = await startAuthorizationServer(audience);
});
afterAll(() => id.close());
beforeEach(() => {
  id.asked.length = 0;
});

const tokensAsked = () => id.asked.filter((path) => path === 'POST /token').length;
const clients = (clientId = 'machine', more: { scopes?: string[] } = {}) => ({
  [id.issuer]: { clientId, clientSecret: secret, ...more },
});

/** An agent with a skill that needs the scope `write`. */
const ledger = (more: Partial<Parameters<typeof guardedAgent>[0]> = {}) =>
  guardedAgent({
    issuer: id.issuer,
    scheme: 'machine',
    skills: [
      {
        id: 'post',
        name: 'Post',
        description: 'Posts an entry',
        tags: [],
        securityRequirements: [{ schemes: { machine: { list: ['write'] } } }],
      },
    ],
    ...more,
  });
const post = { metadata: { skill: 'post' } };

describe('a skill that needs a scope which the token lacks', () => {
  const bindings: readonly [string, ConnectOptions][] = [
    ['JSON-RPC', { binding: 'JSONRPC' }],
    ['HTTP+JSON', { binding: 'HTTP+JSON' }],
    ['A2A 0.3', { version: '0.3', compatibility: [v03Client()] }],
    ['gRPC', { binding: 'GRPC', bindings: [grpcClient()] }],
  ];

  it.each(bindings)(
    'is refused over %s with a challenge, gets a token with that scope, and runs [R-AUTH-01] [R-AUTH-05] [R-ERR-08]',
    async (name, options) => {
      const guarded = ledger({ compatibility: [v03()] });
      const trustedOrigins: string[] = [];
      if (name === 'gRPC') {
        const listener = await listenGrpc(guarded.server, { port: 0 });
        onTestFinished(() => listener.close({ graceMs: 0 }));
        trustedOrigins.push(`http://127.0.0.1:${listener.port}`);
      }
      const challenges: (string | undefined)[] = [];
      const hook = oauth({ clients: clients() });
      const agent = await guarded.connect({
        ...options,
        trustedOrigins,
        credentials(request) {
          if (request.challenge !== undefined) challenges.push(request.challenge);
          return hook(request);
        },
      });
      expect(textIn(await agent.send('hi', post))).toBe('Hello, machine');
      expect(challenges).toEqual(['Bearer realm="machine", error="insufficient_scope", scope="write"']);
      expect(tokensAsked()).toBe(2);
      expect(textIn(await agent.send('hi', post))).toBe('Hello, machine');
      expect(challenges).toHaveLength(1);
      expect(tokensAsked()).toBe(2);
    },
  );

  it('gets one better token for many parallel requests', async () => {
    const agent = await ledger().connect({ credentials: oauth({ clients: clients() }) });
    await agent.listTasks();
    const replies = await Promise.all(Array.from({ length: 10 }, () => agent.send('hi', post)));
    expect(new Set(replies.map(textIn))).toEqual(new Set(['Hello, machine']));
    expect(tokensAsked()).toBe(2);
  });

  it('is met from the beginning, if the client names it', async () => {
    const agent = await ledger().connect({ credentials: oauth({ clients: clients(), skills: ['post'] }) });
    expect(textIn(await agent.send('hi', post))).toBe('Hello, machine');
    expect(tokensAsked()).toBe(1);
  });

  it('stays refused where no flow can widen the token', async () => {
    const { connect, seen } = ledger();
    const credentials = oauth({ clients: { [id.issuer]: { clientId: 'program' } } });
    const token = await tokenOf('read');
    const agent = await connect({
      credentials: async (request) =>
        request.challenge ? credentials(request) : { authorization: `Bearer ${token}` },
    });
    expect(await failureOf(agent.send('hi', post))).toMatchObject({ reason: 'PERMISSION_DENIED' });
    expect(seen).toHaveLength(1);
  });

  it('stays refused where no flow can widen the token that is kept, which goes on to serve other calls', async () => {
    const store = memoryTokenStore();
    await (await ledger().connect({ credentials: oauth({ clients: clients(), store }) })).listTasks();
    const withoutSecret = { [id.issuer]: { clientId: 'machine' } };
    const agent = await ledger().connect({ credentials: oauth({ clients: withoutSecret, store }) });
    expect(await failureOf(agent.send('hi', post))).toMatchObject({ reason: 'PERMISSION_DENIED' });
    expect(textIn(await agent.send('hi'))).toBe('Hello, machine');
    expect(tokensAsked()).toBe(1);
  });

  it('cannot make a client collect scopes without end', async () => {
    const asked: number[] = [];
    const credentials = oauth({
      clients: clients(),
      fetch: async (request) => {
        const text = request.method === 'POST' ? await request.text() : '';
        if (text === '') return fetch(request);
        asked.push(new URLSearchParams(text).get('scope')!.split(' ').length);
        return Response.json({ access_token: `t${asked.length}`, token_type: 'Bearer' });
      },
    });
    const { card } = await ledger().connect({});
    const request = { url: 'http://localhost/', isTrusted: true, card };
    const refused = await credentials(request);
    const demand = (from: number, count: number) => {
      const scope = Array.from({ length: count }, (_, n) => `s${from + n}`).join(' ');
      const challenge = `Bearer realm="machine", error="insufficient_scope", scope="${scope}"`;
      return Promise.resolve(credentials({ ...request, challenge, refused }));
    };
    await demand(0, 99);
    expect(await failureOf(demand(99, 1))).toMatchObject({
      code: 'SCOPE_NOT_ALLOWED',
      message: 'The agent asks for more than 100 scopes',
    });
    // The token that the client has goes on to serve.
    expect(await credentials(request)).toEqual({ authorization: 'Bearer t2' });
    expect(asked).toEqual([1, 100]);
  });

  it('stays refused where the token has the scope already, without another request', async () => {
    const { connect, seen } = ledger({ scopes: ['read', 'write'] });
    const agent = await connect({ credentials: oauth({ clients: clients() }) });
    await agent.listTasks();
    const credentials = oauth({ clients: clients() });
    const request = { url: 'http://localhost/', isTrusted: true, card: agent.card };
    const refused = await credentials(request);
    const challenge = 'Bearer realm="machine", error="insufficient_scope", scope="write"';
    expect(await credentials({ ...request, challenge, refused })).toBeUndefined();
    expect(seen).toHaveLength(1);
  });

  it('gets a better token where it has only some of the scopes that are missed', async () => {
    const { card } = await ledger({ scopes: ['read', 'write'] }).connect({});
    const credentials = oauth({ clients: clients() });
    const request = { url: 'http://localhost/', isTrusted: true, card };
    const refused = await credentials(request);
    const challenge = 'Bearer realm="machine", error="insufficient_scope", scope="write admin"';
    const wider = await credentials({ ...request, challenge, refused });
    expect(claimsIn(wider)).toMatchObject({ scope: 'read write admin' });
  });

  it('gets a better token of the scheme whose token was refused, wherever that stands in the challenge', async () => {
    const { machine, login } = schemes(id.issuer);
    const { card } = await ledger({
      card: {
        name: 'Two schemes',
        description: 'For tests',
        securitySchemes: { login, machine },
        securityRequirements: [{ schemes: { machine: { list: ['read'] } } }],
      },
    }).connect({});
    const credentials = oauth({
      clients: {
        ...clients('narrow'),
        [`${id.issuer}/token`]: { clientId: 'machine', clientSecret: secret },
      },
    });
    const request = { url: 'http://localhost/', isTrusted: true, card };
    const refused = await credentials(request);
    const lacks = (realm: string) => `Bearer realm="${realm}", error="insufficient_scope", scope="write"`;
    const wider = await credentials({
      ...request,
      challenge: `${lacks('login')}, ${lacks('machine')}`,
      refused,
    });
    expect(claimsIn(refused)).toMatchObject({ client_id: 'machine', scope: 'read' });
    expect(claimsIn(wider)).toMatchObject({ client_id: 'machine', scope: 'read write' });
  });

  it('gets no scope that the client does not allow', async () => {
    const { connect, seen } = ledger();
    const agent = await connect({
      credentials: oauth({ clients: clients('machine', { scopes: ['read'] }) }),
    });
    expect(await failureOf(agent.send('hi', post))).toMatchObject({
      code: 'CREDENTIALS',
      cause: { code: 'SCOPE_NOT_ALLOWED', message: 'The agent asks for the scope write' },
    });
    expect(tokensAsked()).toBe(1);
    expect(seen).toHaveLength(1);
  });

  it('fails with the refusal of the authorization server, if that refuses the scope', async () => {
    const agent = await ledger().connect({ credentials: oauth({ clients: clients('narrow') }) });
    expect(await failureOf(agent.send('hi', post))).toMatchObject({
      code: 'CREDENTIALS',
      cause: { code: 'REFUSED', reason: 'invalid_scope' },
    });
    // Calls without the skill go on with the token that they had.
    expect(textIn(await agent.send('hi'))).toBe('Hello, narrow');
  });
});

describe('a task in AUTH_REQUIRED', () => {
  it('goes on with a better token of the caller, whose scopes the agent named [R-STATE-14] [R-STATE-17]', async () => {
    const { agent: run, card } = typedSkills(
      { name: 'Ledger', description: 'For tests' },
      skill({
        id: 'post',
        name: 'Post',
        description: 'Posts an entry',
        securityRequirements: [{ schemes: { machine: { list: ['write'] } } }],
        input: z.object({ post: z.string() }),
        run: async function* () {
          yield completed('Posted');
        },
      }),
    );
    const { connect } = guardedAgent({ issuer: id.issuer, scheme: 'machine', agent: run, card });
    const credentials = oauth({ clients: clients() });
    const agent = await connect({ credentials });
    // The message names no skill, so only the agent can find out that it needs more.
    const { task } = await agent.send([{ data: { post: 'x' } }]);
    expect(task?.status.state).toBe('TASK_STATE_AUTH_REQUIRED');
    const same = await agent.send('Go on', { task: task! });
    expect(same.task?.status.state).toBe('TASK_STATE_AUTH_REQUIRED');

    const needs = dataOf(task?.status.message) as { details: { scopes: string[] } };
    expect(needs.details.scopes).toEqual(['write']);
    credentials.addScopes('http://localhost', needs.details.scopes);
    expect(textIn(await agent.send('Go on', { task: task! }))).toBe('Posted');
    expect(tokensAsked()).toBe(2);
  });
});

/** What the token in these headers says. */
const claimsIn = (headers: Awaited<ReturnType<Credentials>>): unknown =>
  JSON.parse(Buffer.from(headers!.authorization!.split('.')[1]!, 'base64url').toString());

/** A token of the machine with one scope. */
async function tokenOf(scope: string): Promise<string> {
  const response = await fetch(`${id.issuer}/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`machine:${secret}`)}` },
    body: new URLSearchParams({ grant_type: 'client_credentials', scope }),
  });
  return ((await response.json()) as { access_token: string }).access_token;
}
