import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAgentServer } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it, onTestFinished } from 'vitest';
import { closedAfterTest } from '../../../test/kit/closed-after-test.ts';
import { listen } from '../../../test/kit/listen.ts';
import { type Action, actions } from '../src/api/agent.ts';
import { inspector } from '../src/index.ts';
import type { InspectorOptions } from '../src/options.ts';
import { closed, token } from './inspected-servers.ts';
import { showAgent } from './show-agent.ts';

interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** An inspector on a port, and a function that sends it a request with exactly these headers. */
async function serve(options: Partial<InspectorOptions> = {}, host = '127.0.0.1') {
  const agent = showAgent(async () => {});
  const server = closedAfterTest(
    createAgentServer({ ...agent, name: 'show', store: memoryStore(), logger: () => {} }),
  );
  const handler = inspector({ server, token, ...options });
  const http = createServer(handler).listen(0, host);
  await once(http, 'listening');
  onTestFinished(() => closed(http));
  const { port } = http.address() as AddressInfo;
  const send = (path: string, headers: Record<string, string> = {}, body?: unknown): Promise<Reply> =>
    new Promise((resolve, reject) => {
      const sent = request(
        { port, host: '127.0.0.1', path, method: body === undefined ? 'GET' : 'POST', headers },
        async (reply) => {
          let text = '';
          for await (const chunk of reply) text += chunk;
          resolve({ status: reply.statusCode!, headers: reply.headers, text });
        },
      );
      sent.on('error', reject);
      sent.end(body === undefined ? undefined : JSON.stringify(body));
    });
  return { send, port, handler, server };
}

const access = { authorization: `Bearer ${token}` };
const json = { ...access, 'content-type': 'application/json' };

describe('the inspector', () => {
  it('answers only holders of its token', async () => {
    const { send } = await serve();
    for (const scheme of ['Bearer', 'bearer'])
      expect((await send('/api/session', { authorization: `${scheme} ${token}` })).status).toBe(200);
    const wrong: Record<string, string>[] = [
      {},
      { authorization: `Bearer ${token}x` },
      { authorization: token },
      { authorization: 'Bearer ' },
      { authorization: `xBearer ${token}` },
      { authorization: `Bearer  ${token}` },
    ];
    for (const headers of wrong)
      expect(await send('/api/session', headers)).toMatchObject({
        status: 401,
        text: JSON.stringify({ problem: { message: 'The token is missing or wrong' } }),
      });
  });

  it('makes a token of its own, which stands behind the # of the address', async () => {
    const { handler } = await serve({ token: undefined });
    const [address, own] = handler.addressAt('http://127.0.0.1:1/inspector/').split('#token=');
    expect(address).toBe('http://127.0.0.1:1/inspector/');
    expect(own!.length).toBeGreaterThanOrEqual(32);
    expect(() => inspector({ url: 'http://127.0.0.1:1', token: 'short' })).toThrow('at least 16 characters');
  });

  it('answers only under names of this machine', async () => {
    const { send, port } = await serve();
    for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`, 'my.localhost'])
      expect((await send('/api/session', { ...access, host })).status).toBe(200);
    for (const host of ['evil.example', '127.0.0.1.evil.example', 'localhost.evil.example'])
      expect(await send('/api/session', { ...access, host })).toMatchObject({ status: 421 });
    // The page too: a page of another name would otherwise be of the inspector's origin.
    expect((await send('/', { host: 'evil.example' })).status).toBe(421);
  });

  it('reads bodies of at most 24 MiB, and says so', async () => {
    const { send } = await serve({ allow: ['send'] });
    const most = 24 * 1024 * 1024;
    // Two quotes stand around it.
    expect((await send('/api/agents/show/messages', json, 'x'.repeat(most - 2))).status).toBe(400);
    const { status, text } = await send('/api/agents/show/messages', json, 'x'.repeat(most - 1));
    expect([status, text]).toEqual([413, expect.stringContaining('more than 25165824 bytes')]);
  });

  it.each<[Action, string, { agent?: string; taskId?: string }?]>([
    ['send', '/agents/show/messages'],
    ['send', '/agents/show/messages', { taskId: 't' }],
    ['send', '/agents/show/interface'],
    ['cancel', '/agents/show/tasks/t/cancel'],
    ['wake', '/agents/show/tasks/t/wake'],
    ['fork', '/agents/show/tasks/t/fork'],
    ['assign', '/agents/show/tasks/t/assign'],
    ['redeliver', '/agents/show/tasks/t/redeliver'],
    ['erase', '/erase'],
    ['fetch-file', '/file', { agent: 'show' }],
    ['add-agent', '/agents'],
    ['add-agent', '/agents/show/remove'],
    ['kill', '/kill'],
  ])('asks whether a viewer may %s at %s, and refuses it by default', async (action, path, body = {}) => {
    const kill = () => {};
    const given = { ...body, parts: [{ text: 'hello' }], url: 'http://127.0.0.1:9' };
    expect(await (await serve({ kill })).send(`/api${path}`, json, given)).toMatchObject({
      status: 403,
      text: expect.stringContaining(`This inspector does not allow you to ${actions[action][0]}"`),
    });
    const asked: unknown[] = [];
    const may = (each: string, target: object) => {
      asked.push([each, target]);
      return each === action;
    };
    const { send } = await serve({ kill, authenticate: () => ({ may }) });
    expect((await send(`/api${path}`, json, given)).status).not.toBe(403);
    const [, agent, , taskId] = /^\/agents\/(\w+)(\/tasks\/(\w+))?/.exec(path) ?? [];
    const named = Object.entries({ agent, taskId }).filter(([, value]) => value);
    expect(asked).toEqual([[action, { ...body, ...Object.fromEntries(named) }]]);
  });

  it('asks `authenticate` in place of the token, and then answers under listed names', async () => {
    const authenticate: InspectorOptions['authenticate'] = ({ headers }) =>
      headers.cookie === 'session=ada' ? { name: 'Ada', may: ['cancel'] } : undefined;
    const { send, handler } = await serve({ authenticate, hosts: ['ops.example.com'] });
    expect(handler.addressAt('https://ops.example.com/inspector')).toBe('https://ops.example.com/inspector/');
    const host = 'ops.example.com';
    expect((await send('/api/session', { host })).status).toBe(401);
    const { text } = await send('/api/session', { host, cookie: 'session=ada' });
    expect(JSON.parse(text)).toMatchObject({ viewer: 'Ada', may: ['cancel'] });
    expect((await send('/api/session', { host: 'other.example.com', cookie: 'session=ada' })).status).toBe(
      421,
    );
  });

  it('tells `authenticate` the method, the path and each header as one text', async () => {
    const seen: unknown[] = [];
    const { send } = await serve({
      authenticate: ({ method, path, headers }) => {
        seen.push([method, path, headers['set-cookie'], headers['x-a']]);
        return {};
      },
    });
    await send('/api/session', { 'x-a': 'b', 'set-cookie': ['c=1', 'd=2'] as never });
    await send('/api/kill', json, {});
    expect(seen).toEqual([
      ['GET', '/api/session', 'c=1, d=2', 'b'],
      ['POST', '/api/kill', undefined, undefined],
    ]);
  });

  it('lets no other machine kill the process, whoever asks', async () => {
    let killed = 0;
    const handler = inspector({
      url: 'http://127.0.0.1:9',
      authenticate: () => ({ may: ['kill'] }),
      kill: () => (killed += 1),
    });
    const from = async (remoteAddress: string) => {
      const far = createServer((incoming, response) => {
        Object.defineProperty(incoming.socket, 'remoteAddress', { value: remoteAddress });
        handler(incoming, response);
      });
      const url = await listen(far);
      const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' };
      const { may } = (await (await fetch(`${url}/api/session`)).json()) as { may: string[] };
      return [may, (await fetch(`${url}/api/kill`, post)).status];
    };
    expect(await from('192.0.2.7')).toEqual([[], 404]);
    expect(await from('127.0.0.1')).toEqual([['kill'], 200]);
    await expect.poll(() => killed).toBe(1);
  });

  it.each([
    ['/api/agents/nothing/tasks', 404],
    ['/api/nothing', 404],
    ['/api/agents/show/tasks?state=BUSY', 400],
    ['/api/agents/show/tasks?after=x', 400],
    ['/api/agents/show/tasks/unknown/timeline', 404],
    ['/api/agents/%zz/tasks', 404],
    ['/../../package.json', 404],
    ['/assets/..%2f..%2fpackage.json', 404],
  ])('refuses %s with %i and a sentence', async (path, status) => {
    const { send } = await serve();
    const reply = await send(path, access);
    expect(reply.status).toBe(status);
    expect(JSON.parse(reply.text).problem.message).toMatch(/\w+ \w+/);
  });

  it('needs an agent, and one that it can find', () => {
    expect(() => inspector({ agents: [{}] })).toThrow('needs `url`, `server`, or `store` with `name`');
    expect(() => inspector({ store: memoryStore() })).toThrow(TypeError);
    for (const traceUrl of ['', '{traceId}', 'javascript:{traceId}', 'http://localhost/'])
      expect(() => inspector({ url: 'http://localhost', traceUrl })).toThrow(
        new TypeError('`traceUrl` must be an absolute http or https URL that contains {traceId}'),
      );
    for (const traceUrl of ['http://localhost/{traceId}', 'https://a.example/?t={traceId}'])
      expect(() => inspector({ url: 'http://localhost', traceUrl })).not.toThrow();
  });
});
