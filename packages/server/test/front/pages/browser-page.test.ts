import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { apiKey } from '@batonjs/auth';
import type { AgentCard } from '@batonjs/protocol';
import { listen } from '@batonjs/server-node';
import { expect, it, onTestFinished } from 'vitest';
import { serve } from '../../../../../test/kit/serve.ts';
import { credentialsOf } from '../../../src/front/pages/browser-page.ts';
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

const weather = { name: 'Weather', description: 'Says how it will be' };
const key = { apiKeySecurityScheme: { location: 'header', name: 'X-Key' } };

it('its curl line has a place for the key that the agent asks for, and works with it', async () => {
  const agent = server({
    authenticate: apiKey({ header: 'X-Key', keys: new Map([['a-key-of-mine', { scope: 'me' }]]) }),
  });
  const listening = await listen(agent, { port: 0 });
  onTestFinished(() => listening.close());
  const response = await fetch(listening.url, { headers: { accept } });
  const page = (await response.text()).replaceAll('&#39;', "'").replaceAll('&quot;', '"');
  expect(page).toMatch(/<p>It asks for credentials: \w+; put yours where a word stands in capitals\.<\/p>/);
  expect(page).toContain(`--allow send --header 'X-Key: YOUR_KEY'`);
  const line = /<pre>(curl [\s\S]*?)<\/pre>/.exec(page)?.[1] ?? '';
  const { stdout } = await execute('sh', ['-c', line.replace('YOUR_KEY', 'a-key-of-mine')]);
  expect(stdout).toContain('Found');
});

it.each([
  ['a token', { httpAuthSecurityScheme: { scheme: 'Bearer' } }, 'Authorization: Bearer YOUR_TOKEN'],
  [
    'a password',
    { httpAuthSecurityScheme: { scheme: 'basic' } },
    'Authorization: Basic YOUR_USER_AND_PASSWORD_IN_BASE64',
  ],
  [
    'OpenID',
    { openIdConnectSecurityScheme: { openIdConnectUrl: 'https://a.example' } },
    'Authorization: Bearer YOUR_TOKEN',
  ],
  ['OAuth', { oauth2SecurityScheme: { flows: {} } }, 'Authorization: Bearer YOUR_TOKEN'],
])('its lines have a place for %s', (_, scheme, header) => {
  const card = { securitySchemes: { it: scheme }, securityRequirements: [{ schemes: { it: {} } }] };
  expect(credentialsOf(card as unknown as AgentCard).headers).toEqual([header]);
});

it.each([
  ['in the query', { apiKeySecurityScheme: { location: 'query', name: 'key' } }],
  [
    'under a name that a shell would read',
    { apiKeySecurityScheme: { location: 'header', name: "X'; rm -r ~; '" } },
  ],
  ['of a client certificate', { mtlsSecurityScheme: {} }],
])('its lines have no place for a credential %s', async (_, scheme) => {
  const { page } = await opened({
    authenticate: () => undefined,
    card: { ...weather, securitySchemes: { it: scheme }, securityRequirements: [{ schemes: { it: {} } }] },
  } as Partial<AgentServerOptions>);
  expect(page).toContain('It asks for credentials: it.</p>');
  expect(page).not.toContain('YOUR');
});

it('credentials that may be left out are only named, and ways in are told apart', async () => {
  const card = {
    ...weather,
    securitySchemes: {
      key,
      token: { httpAuthSecurityScheme: { scheme: 'Bearer' } },
      other: { mtlsSecurityScheme: {} },
    },
  };
  const pageFor = async (...ways: string[][]) => {
    const securityRequirements = ways.map((way) => ({
      schemes: Object.fromEntries(way.map((name) => [name, {}])),
    }));
    const options = { authenticate: () => undefined, card: { ...card, securityRequirements } };
    return (await opened(options as Partial<AgentServerOptions>)).page;
  };
  const both = await pageFor(['key', 'token'], ['other']);
  expect(both).toContain('It asks for credentials: key and token, or other; put yours');
  expect(both).toContain('-H &#39;X-Key: YOUR_KEY&#39; -H &#39;Authorization: Bearer YOUR_TOKEN&#39;');
  const none = await pageFor(['key'], []);
  expect(none).toContain('It may ask for credentials: key, token, other.');
  expect(none).not.toContain('YOUR');
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
