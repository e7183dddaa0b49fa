import { readFileSync } from 'node:fs';
import { connect, textOf } from '@batonjs/client';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { codeBlocks } from '../../scripts/packed/consumer.ts';
import { exchange } from '../kit/http/exchange.ts';
import { usual } from '../kit/http/known-tasks.ts';
import { expectRefusal } from '../kit/http/refusal.ts';
import { said } from '../kit/http/wrong-sends.ts';
import { listen } from '../kit/listen.ts';
import { app as catalog } from './catalog.ts';
import { app, echo as koaEcho } from './koa.ts';
import { echo as nextEcho } from './large/next/agents.ts';
import * as route from './large/next/app/agents/echo/[[...path]]/route.ts';
import { app as nest, echo as nestEcho } from './nest.ts';
import { echo } from './next.ts';

const read = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8');

afterAll(async () => {
  await Promise.all([koaEcho, nestEcho, nextEcho, echo].map((server) => server.close({ graceMs: 0 })));
});

it('docs/serving/frameworks.md shows programs that are run', () => {
  expect(codeBlocks('docs/serving/frameworks.md')).toEqual([
    read('./catalog.ts'),
    read('./koa.ts'),
    read('./next.ts'),
    read('./large/next/app/agents/echo/[[...path]]/route.ts'),
    read('./nest.ts'),
    read('./worker.ts'),
  ]);
});

it('an app of Express lists its agents at its origin', async () => {
  const origin = await listen(catalog);
  const read = await fetch(`${origin}/.well-known/ai-catalog.json`);
  const { entries } = (await read.json()) as { entries: { identifier: string }[] };
  expect(entries.map(({ identifier }) => identifier.split(':').at(-1))).toEqual(['expenses', 'weather']);
});

describe('Koa', () => {
  it('serves the agent below its path over both bindings, and the rest itself', async () => {
    const origin = await listen(app.callback());
    for (const binding of ['JSONRPC', 'HTTP+JSON']) {
      const agent = await connect(`${origin}/agents/echo`, { binding });
      expect(textOf((await agent.send('Hello')).message)).toBe('Hello');
    }
    expect(await exchange(origin, { path: '/agents/echoes' })).toMatchObject({ text: 'Hello from Koa' });
  });

  it('answers errors in the form of the binding', async () => {
    const origin = await listen(app.callback());
    const path = '/agents/echo/message:send';
    const reply = await exchange(origin, { method: 'POST', path, headers: usual, body: '{' });
    expectRefusal('HTTP+JSON', reply, { reason: 'PARSE_ERROR' });
  });
});

describe('NestJS', () => {
  it('serves the agent of the page', async () => {
    await nest.init();
    onTestFinished(() => nest.close());
    const agent = await connect(`${await listen(nest.getHttpAdapter().getInstance())}/agents/echo`);
    expect(textOf((await agent.send('Hello')).message)).toBe('Hello');
  });
});

describe('Next.js', () => {
  const url = 'http://localhost:3000/agents/echo';
  const post = (path: string, body: object) =>
    echo.fetch(new Request(`${url}${path}`, { method: 'POST', headers: usual, body: JSON.stringify(body) }));

  it('has the card and both bindings below its path', async () => {
    const card = await (await echo.fetch(new Request(`${url}/.well-known/agent-card.json`))).json();
    expect(card.supportedInterfaces[0].url).toBe(url);
    const message = said({ parts: [{ text: 'Hello' }] });
    const rest = await (await post('/message:send', { message })).json();
    expect(rest.message.parts).toEqual([{ text: 'Hello' }]);
    const call = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message: said() } };
    expect((await (await post('', call)).json()).result).toHaveProperty('message');
  });

  it('streams', async () => {
    const response = await post('/message:stream', { message: said({ parts: [{ text: 'Hello' }] }) });
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    expect(await response.text()).toContain('Hello');
  });

  it('exports a handler for every method of the protocol, and nothing that a project with `cacheComponents` refuses', () => {
    expect(Object.keys(route).sort()).toEqual(['DELETE', 'GET', 'OPTIONS', 'POST']);
  });
});
