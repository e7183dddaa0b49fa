import { createServer } from 'node:http';
import { catalogOf } from '@batonjs/server';
import { nodeHandler } from '@batonjs/server-node';
import { describe, expect, it } from 'vitest';
import { listen } from '../../../../test/kit/listen.ts';
import { inspector } from '../../src/index.ts';
import { token } from '../inspected-servers.ts';
import { type Json, serve } from './inspector-api.ts';

const all = [
  'send',
  'cancel',
  'wake',
  'fork',
  'assign',
  'redeliver',
  'erase',
  'fetch-file',
  'add-agent',
  'read-prompts',
  'share',
  'kill',
] as const;

describe('the session', () => {
  it('says in which currency the models of agents cost, if the inspector has prices', async () => {
    const { call } = await serve({ modelPrices: { currency: 'EUR', models: {} } });
    expect((await call('/session')).json.currency).toBe('EUR');
    expect((await (await serve()).call('/session')).json).not.toHaveProperty('currency');
  });

  it('says who may do what, and which agents there are', async () => {
    const { call, farUrl } = await serve({
      allow: ['cancel', 'send', 'kill'],
      traceUrl: 'http://t/{traceId}',
    });
    const { status, json } = await call('/session');
    expect(status).toBe(200);
    expect(json).toEqual({
      may: ['send', 'cancel'],
      agents: [
        {
          id: 'show',
          name: 'Show',
          description: 'Shows everything that an agent can send.',
          url: 'http://show.localhost',
          canCall: true,
          hasStore: true,
          hasServer: true,
          scopes: ['anonymous callers'],
        },
        {
          id: 'far',
          name: 'Show',
          description: 'Shows everything that an agent can send.',
          url: farUrl,
          canCall: true,
          hasStore: false,
          hasServer: false,
          scopes: [],
        },
        {
          id: 'kept',
          name: 'kept',
          canCall: false,
          hasStore: true,
          hasServer: false,
          scopes: ['anonymous callers'],
        },
      ],
      process: expect.stringMatching(/^[\da-f-]{36}$/),
      traceUrl: 'http://t/{traceId}',
    });
    expect((await call('/session')).json.process).toBe(json.process);
    const other = await (await serve()).call('/session');
    expect(other.json.process).not.toBe(json.process);
    expect(other.json).not.toHaveProperty('traceUrl');
  });

  it('is that of whom the program knows, who is asked for each action', async () => {
    const asked: unknown[] = [];
    const seen: Json[] = [];
    const { call } = await serve({
      kill() {},
      authenticate(request: { headers: Record<string, string | undefined> }) {
        seen.push(request as never);
        if (!request.headers.authorization) return undefined;
        return {
          name: 'Ada',
          may(action: string, target: object) {
            asked.push([action, target]);
            return action === 'wake' ? ('yes' as never) : action === 'fork';
          },
        };
      },
    } as never);
    const { json } = await call('/session?a=b');
    expect([json.viewer, json.may]).toEqual(['Ada', ['fork']]);
    expect(asked).toEqual(all.map((action) => [action, {}]));
    expect(seen[0]).toMatchObject({
      method: 'GET',
      path: '/api/session',
      headers: { host: expect.any(String) },
    });
    expect((seen[0]!.query as unknown as URLSearchParams).get('a')).toBe('b');
  });

  it('refuses whom the program does not know', async () => {
    const { call } = await serve({ token: undefined, authenticate: () => undefined } as never);
    expect(await call('/session')).toMatchObject({ status: 401, message: 'You may not use the inspector' });
  });

  it('can end the process only where the program gave a way', async () => {
    let killed = 0;
    const { call } = await serve({ allow: ['kill'], kill: () => (killed += 1) } as never);
    expect((await call('/session')).json.may).toEqual(['kill']);
    expect((await call('/kill', {})).status).toBe(200);
    await expect.poll(() => killed).toBe(1);
    const none = await serve({ allow: ['kill'] });
    expect(await none.call('/kill', {})).toMatchObject({
      status: 404,
      message: 'This inspector cannot kill its process',
    });
  });
});

it('a message says who sent it, where the program knows', async () => {
  const { call, near } = await serve({
    authenticate: () => ({ name: 'Ada', may: ['send'] }),
  });
  const { json } = await call('/agents/show/messages', { parts: [{ text: 'ask' }], metadata: { a: 1 } });
  const task = await near.getTask({ id: String(json.taskId) });
  expect(task.history?.[0]?.metadata).toEqual({ 'https://batonjs.dev/inspector/v1': { sentBy: 'Ada' } });
});

it('who did what is kept, with what failed, and told to the program', async () => {
  const told: unknown[] = [];
  const { call, near } = await serve({
    authenticate: () => ({ name: 'Ada', may: ['cancel', 'fork'] }),
    onAction(record) {
      told.push(record);
      throw new Error('The program fails');
    },
  });
  const { task } = await near.send('steps');
  const at = `/agents/show/tasks/${task!.id}`;
  const { json } = await call(`${at}/fork`, {});
  expect(json.taskId).not.toBe(task!.id);
  expect(await call(`${at}/fork`, { position: 1.5 })).toMatchObject({ status: 400 });
  expect(await call(`${at}/cancel`, {})).toMatchObject({ message: expect.any(String) });
  expect(await call(`${at}/wake`, {})).toMatchObject({ status: 403 });
  const { records } = (await call('/activity')).json as unknown as { records: object[] };
  const said = { at: expect.stringMatching(/^20/), by: 'Ada', agent: 'show', taskId: task!.id };
  expect(records).toEqual([
    { ...said, action: 'wake', problem: 'This inspector does not allow you to wake tasks' },
    { ...said, action: 'cancel', problem: expect.any(String) },
    { ...said, action: 'fork', problem: 'position must be a whole number' },
    { ...said, action: 'fork' },
  ]);
  expect(told).toEqual(records.toReversed());
});

describe('an agent', () => {
  it('is added once by its address', async () => {
    const { call, farUrl, outside } = await serve({ allow: ['add-agent'] });
    expect((await call('/agents', { url: farUrl })).json.id).toBe('far');
    const { json } = await call('/agents', { url: `${outside}/a/b` });
    expect(json).toMatchObject({ name: `b at ${new URL(outside).host}`, canCall: true });
    expect((await call('/agents', { url: `${outside}/a/b` })).json.id).toBe(json.id);
    const { json: short } = await call('/agents', { url: ` ${outside.slice('http://'.length)}/c ` });
    expect(short).toMatchObject({ url: `${outside}/c`, isAdded: true });
    expect((await call('/agents', { url: 'agents.example/d' })).json).toMatchObject({
      url: 'https://agents.example/d',
    });
    for (const url of ['ftp://a', 'xhttp://a', 'mailto:a', 'a b'])
      expect(await call('/agents', { url })).toMatchObject({
        status: 400,
        message: 'The address of an agent is a host, or begins with http:// or https://',
      });
    expect(await call('/agents', { url: '' })).toMatchObject({ status: 400, message: 'url is missing' });
    expect(await call('/agents', {})).toMatchObject({ status: 400, message: 'url is missing' });
    expect(await call('/agents', { url: 7 })).toMatchObject({ status: 400, message: 'url must be text' });
  });

  it('is chosen from those that a host lists in its catalog', async () => {
    const { call, outside } = await serve({ allow: ['add-agent'] });
    const listed = [
      { name: 'expenses', url: '/agents/expenses', description: 'Pays' },
      { name: 'weather', url: 'https://weather.example/a2a' },
    ];
    const host = await listen(createServer(nodeHandler(catalogOf(listed))));
    const card = `${host}/agents/expenses/.well-known/agent-card.json`;
    const other = 'https://weather.example/a2a/.well-known/agent-card.json';
    expect((await call('/hosts', { url: new URL(host).host })).json).toEqual({
      agents: [
        { name: 'expenses', description: 'Pays', url: card },
        { name: 'weather', url: other },
      ],
    });
    expect((await call('/agents', { url: card })).json).toMatchObject({ url: card, isAdded: true });
    for (const url of [outside, `${host}/agents/expenses`])
      expect((await call('/hosts', { url })).json).toEqual({ agents: [] });
    expect((await call('/activity')).json.records).toHaveLength(1);
    expect(await (await serve()).call('/hosts', { url: host })).toMatchObject({ status: 403 });
  });

  it('is removed if a viewer added it, and stays if the program gave it', async () => {
    const { call, outside } = await serve({ allow: ['add-agent'] });
    const { json } = await call('/agents', { url: `${outside}/a` });
    expect(await call(`/agents/${json.id}/remove`, {})).toMatchObject({ status: 200 });
    expect(await call(`/agents/${json.id}/remove`, {})).toMatchObject({ status: 404 });
    expect(await call('/agents/far/remove', {})).toMatchObject({
      status: 409,
      message: 'The agent far was given by the program that runs the inspector',
    });
    const others = await serve({ allow: ['send'] });
    expect(await others.call('/agents/far/remove', {})).toMatchObject({ status: 403 });
  });

  it('shows its card, and why it could not be read', async () => {
    const { call } = await serve({ allow: ['add-agent'] });
    const { json } = await call('/agents/far/card');
    expect(json).toMatchObject({
      card: { name: 'Show' },
      raw: { name: 'Show' },
      issues: [],
      signature: { state: 'absent' },
      skillSchemas: { convert: { type: 'object' } },
      interfaces: expect.arrayContaining([
        expect.objectContaining({ protocolBinding: 'JSONRPC', isUsable: true, isChosen: true }),
      ]),
    });
    expect((json.interfaces as unknown as Json[]).filter(({ isChosen }) => isChosen)).toHaveLength(1);
    expect(await call('/agents/kept/card')).toMatchObject({
      status: 404,
      message: 'The inspector has the store of this agent only, not its card',
    });
    const gone = (await call('/agents', { url: 'http://127.0.0.1:9' })).json.id;
    const failed = await call(`/agents/${gone}/card`);
    expect(failed.status).toBe(502);
    const { agents } = (await call('/session')).json as unknown as { agents: Json[] };
    expect(agents.find(({ id }) => id === gone)?.problem).toBe(failed.message);
  });

  it('is called by the interface that was chosen', async () => {
    const { call, feed } = await serve({ allow: ['send'] });
    const { interfaces } = (await call('/agents/far/card')).json as unknown as { interfaces: Json[] };
    const other = interfaces.find(({ isChosen, isUsable }) => !isChosen && isUsable)!;
    const chosen = { binding: other.protocolBinding, version: other.protocolVersion };
    expect((await call('/agents/far/interface', chosen)).json).toEqual({});
    await call('/agents/far/messages', { parts: [{ text: 'hello' }] });
    const wire = await feed('/agents/far/wire', ({ exchanges }) =>
      JSON.stringify(exchanges).includes(`"binding":"${chosen.binding}"`),
    );
    expect(JSON.stringify(wire)).toContain('"HTTP+JSON"');
    expect(await call('/agents/far/interface', { binding: 'x' })).toMatchObject({
      status: 400,
      message: 'version is missing',
    });
    expect(await call('/agents/kept/interface', chosen)).toMatchObject({
      status: 404,
      message: 'The inspector cannot call kept: it has the store only',
    });
    expect(await call('/agents/kept/wire')).toMatchObject({
      status: 404,
      message: 'The inspector sends no requests to this agent: it has the store only',
    });
  });

  it('is none that the inspector does not know', async () => {
    const { call } = await serve();
    expect(await call('/agents/none/tasks')).toMatchObject({
      status: 404,
      message: 'The inspector knows no agent none',
    });
    expect(await call('/none')).toMatchObject({ status: 404, message: 'There is nothing at GET /api/none' });
  });
});

it('a mount without its slash leads to the page', async () => {
  const handler = inspector({ url: 'http://127.0.0.1:9', token });
  const url = await listen(
    createServer((request, response) =>
      handler(
        Object.assign(request, { baseUrl: '/inspector', originalUrl: `/inspector${request.url}` }),
        response,
      ),
    ),
  );
  const at = (path: string) => fetch(url + path, { redirect: 'manual' });
  expect((await at('/')).status).not.toBe(308);
  const bare = inspector({ url: 'http://127.0.0.1:9', token });
  const bareUrl = await listen(
    createServer((request, response) =>
      bare(Object.assign(request, { baseUrl: '/inspector', originalUrl: '/inspector?a=b' }), response),
    ),
  );
  const moved = await fetch(bareUrl, { redirect: 'manual' });
  expect([moved.status, moved.headers.get('location')]).toEqual([308, '/inspector/']);
  expect(bare.addressAt('http://a/x//')).toBe(`http://a/x/#token=${token}`);
  const known = inspector({ url: 'http://127.0.0.1:9', authenticate: () => undefined });
  expect(known.addressAt('http://a')).toBe('http://a/');
});
