import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { listen } from '@batonjs/server-node';
import { expect, it, onTestFinished } from 'vitest';
import { serve } from '../../../../../test/kit/serve.ts';
import { type AgentServerOptions, reply } from '../../../src/index.ts';

const execute = promisify(execFile);
const accept = 'text/html,application/xhtml+xml,*/*;q=0.8';
const server = (options: Partial<AgentServerOptions> = {}) => serve(() => reply('Found'), options);

async function opened(options: Partial<AgentServerOptions> = {}, init: RequestInit = {}) {
  const request = new Request('http://localhost/', { headers: { accept }, ...init });
  const response = await server(options).fetch(request);
  return { response, page: await response.text() };
}

it('a browser that opens the address of an agent gets a page, which nothing can run on', async () => {
  const { response, page } = await opened({ card: { name: 'Weather', description: 'Says how it will be' } });
  expect(response.status).toBe(200);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': expect.stringContaining("default-src 'none'"),
    'x-content-type-options': 'nosniff',
    vary: expect.stringContaining('Accept'),
  });
  expect(page).toContain('<h1>Weather</h1>\n<p>Says how it will be</p>');
  expect(page).toContain('curl -s &#39;http://localhost/message:send&#39;');
  expect(page).toContain('npx @batonjs/inspector &#39;http://localhost&#39; --allow send');
  expect(page).toContain('<a href="http://localhost/.well-known/agent-card.json">');
});

it.each([
  ['HTTP+JSON', {}],
  ['JSONRPC', {}],
])('its curl line works over %s', async (protocolBinding) => {
  const agent = server();
  const listening = await listen(agent, { port: 0 });
  onTestFinished(() => listening.close());
  const other = serve(() => reply('Found'), {
    card: {
      name: 'Weather',
      description: 'Says how it will be',
      supportedInterfaces: [{ url: listening.url, protocolBinding, protocolVersion: '1.0' }],
    },
  });
  const response = await other.fetch(new Request('http://localhost/', { headers: { accept } }));
  const page = (await response.text()).replaceAll('&#39;', "'").replaceAll('&quot;', '"');
  const line = /<pre>(curl [\s\S]*?)<\/pre>/.exec(page)?.[1] ?? '';
  const { stdout } = await execute('sh', ['-c', line]);
  expect(stdout).toContain('Found');
});

it.each([
  ['a client that takes anything', { headers: { accept: '*/*' } }],
  ['a client that says nothing', {}],
  ['a message', { method: 'POST', headers: { accept }, body: '{}' }],
])('%s gets no page', async (_, init) => {
  const response = await server().fetch(new Request('http://localhost/', init));
  expect(response.headers.get('content-type')).toMatch(/json/);
});

it('another path gets no page', async () => {
  const response = await server().fetch(new Request('http://localhost/tasks/1', { headers: { accept } }));
  expect(response.headers.get('content-type')).toMatch(/json/);
});

it('HEAD gets the headers alone', async () => {
  const { response, page } = await opened({}, { method: 'HEAD' });
  expect([response.status, response.headers.get('content-type'), page]).toEqual([
    200,
    'text/html; charset=utf-8',
    '',
  ]);
});

it('a card is no markup, and no part of the command', async () => {
  const evil = `<script>alert("1")</script> & 'x'`;
  const { page } = await opened({
    card: {
      name: evil,
      description: evil,
      skills: [{ id: 'x', name: evil, description: evil }],
      supportedInterfaces: [
        { url: "http://localhost/'; rm -r ~; '", protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      ],
    },
  });
  expect(page).not.toContain('<script');
  expect(page).toContain('&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &#39;x&#39;');
  expect(page).toContain('curl -s &#39;http://localhost/%27; rm -r ~; %27&#39;');
});

it('a large card makes no large page', async () => {
  const long = 'x'.repeat(100_000);
  const skills = Array.from({ length: 100 }, (_, n) => ({ id: `${n}`, name: long, description: long }));
  const { page } = await opened({ card: { name: long, description: long, skills } });
  expect(page.length).toBeLessThan(80_000);
  expect(page).toContain(`<h1>${'x'.repeat(200)} …</h1>`);
});

it('the page says which credentials the agent may ask for, and needs none itself', async () => {
  const { response, page } = await opened({
    authenticate: () => undefined,
    card: {
      name: 'Weather',
      description: 'Says how it will be',
      securitySchemes: { key: { apiKeySecurityScheme: { location: 'header', name: 'X-Key' } } },
    },
  });
  expect(response.status).toBe(200);
  expect(page).toContain('It may ask for credentials: key.');
});

it('an agent that is reached only in other ways is described without a command', async () => {
  const { page } = await opened({
    card: {
      name: 'Weather',
      description: 'Says how it will be',
      supportedInterfaces: [{ url: 'localhost:9', protocolBinding: 'GRPC', protocolVersion: '1.0' }],
    },
  });
  expect(page).toContain('<h1>Weather</h1>');
  expect(page).not.toContain('curl');
});

it('the page of a tenant names the tenant', async () => {
  const card = (protocolBinding: string) => ({
    name: 'Weather',
    description: 'Says how it will be',
    supportedInterfaces: [
      { url: 'http://localhost', protocolBinding, protocolVersion: '1.0', tenant: 'one' },
    ],
  });
  expect((await opened({ card: card('HTTP+JSON') })).page).toContain('http://localhost/one/message:send');
  expect((await opened({ card: card('JSONRPC') })).page).toContain('&quot;tenant&quot;:&quot;one&quot;');
});
