import { createServer as createTcpServer } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { connect } from '@batonjs/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { certificateOf } from '../../../../test/support/certificate.ts';
import { bothBindings, failureOf, serve } from '../serve.ts';

const page = (title: string) =>
  `<html>\r\n<head><title>${title}</title></head>\r\n<body><center><h1>${title}</h1></center><hr><center>nginx</center></body></html>`;
const html = 'text/html';
const json = 'application/json';
const text = 'text/plain';

// biome-ignore format: a table reads best with one row per line
/** What proxies, gateways and others answer in place of an agent: status, type, body, and what the client makes of it. */
const answers = [
  [
    'nginx, for HTTP at its port of TLS',
    400,
    html,
    page('400 The plain HTTP request was sent to HTTPS port'),
    'INVALID_AGENT_RESPONSE',
    '400 The plain HTTP request was sent to HTTPS port',
  ],
  [
    'a proxy that asks for a password',
    401,
    html,
    page('401 Authorization Required'),
    'UNAUTHENTICATED',
    '401 Authorization Required',
  ],
  ['Istio', 403, text, 'RBAC: access denied', 'PERMISSION_DENIED', 'RBAC: access denied'],
  ['AWS, without a key', 403, json, '{"message":"Forbidden"}', 'PERMISSION_DENIED', 'Forbidden'],
  [
    'Kong, without a route',
    404,
    json,
    '{"message":"no Route matched with those values"}',
    'METHOD_NOT_FOUND',
    'no Route matched with those values',
  ],
  ['a static site', 405, html, page('405 Not Allowed'), 'METHOD_NOT_ALLOWED', '405 Not Allowed'],
  [
    'HAProxy, after its time',
    408,
    html,
    '<html><body><h1>408 Request Time-out</h1>\nYour browser did not send a complete request in time.\n</body></html>',
    'UNAVAILABLE',
    '408 Request Time-out Your browser did not send a complete request in time.',
  ],
  [
    'nginx, for a large message',
    413,
    html,
    page('413 Request Entity Too Large'),
    'PAYLOAD_TOO_LARGE',
    '413 Request Entity Too Large',
  ],
  [
    'Azure, beyond a rate',
    429,
    json,
    '{"statusCode":429,"message":"Rate limit is exceeded."}',
    'RESOURCE_EXHAUSTED',
    'Rate limit is exceeded.',
  ],
  [
    'a server of problem details',
    500,
    'application/problem+json',
    '{"type":"about:blank","title":"Internal Server Error"}',
    'INTERNAL_ERROR',
    'Internal Server Error',
  ],
  ['nginx, without an agent', 502, html, page('502 Bad Gateway'), 'UNAVAILABLE', '502 Bad Gateway'],
  ['Envoy, without an agent', 503, text, 'no healthy upstream', 'UNAVAILABLE', 'no healthy upstream'],
  [
    'AWS, after its time',
    504,
    json,
    '{"message":"Endpoint request timed out"}',
    'UNAVAILABLE',
    'Endpoint request timed out',
  ],
  [
    'a network that asks to sign in',
    511,
    html,
    page('Sign in to the network'),
    'INTERNAL_ERROR',
    'Sign in to the network',
  ],
  [
    'Cloudflare, after its time',
    524,
    html,
    page('agent.example | 524: A timeout occurred'),
    'UNAVAILABLE',
    'agent.example | 524: A timeout occurred',
  ],
  ['a page for signing in', 200, html, page('Sign in'), 'INVALID_AGENT_RESPONSE', 'Sign in'],
  ['a text without end', 200, text, 'x'.repeat(300), 'INVALID_AGENT_RESPONSE', `${'x'.repeat(120)}…`],
] as const;

describe.each(['JSONRPC', 'HTTP+JSON'])('an answer that is none of A2A, on %s,', (binding) => {
  it.each(answers)('names what was reached: %s [R-ERR-06]', async (_, status, type, body, reason, words) => {
    const { url } = await serve((_, response) =>
      response.writeHead(status, { 'content-type': type }).end(body),
    );
    const agent = await connect(bothBindings(url), { binding, retry: false });
    const calls = [
      () => agent.getTask({ id: 't-1' }),
      () => agent.send('Hello'),
      () => agent.stream('Hello').result(),
    ];
    for (const call of calls) {
      const error = await failureOf(call());
      expect(error.reason).toBe(reason);
      const ending = [504, 524].includes(status) ? '; the agent may go on with the work' : '';
      expect(error.message).toMatch(/^http:\/\/127\.0\.0\.1:\d+\//);
      expect(error.message).toContain(
        ` answers ${status} with ${type} ("${words}"), which is no answer of A2A${ending}`,
      );
    }
  });

  it('without a body or a type', async () => {
    const { url } = await serve((_, response) => response.writeHead(502).end());
    const agent = await connect(bothBindings(url), { binding, retry: false });
    expect((await failureOf(agent.getTask({ id: 't-1' }))).message).toMatch(
      /answers 502 with no content type, which is no answer of A2A$/,
    );
  });

  it('names the page that a redirect led to', async () => {
    const { url } = await serve((request, response) => {
      if (request.url?.startsWith('/login'))
        response.writeHead(200, { 'content-type': html }).end(page('Sign in'));
      else response.writeHead(302, { location: '/login?secret=1' }).end();
    });
    const agent = await connect(bothBindings(url), { binding, retry: false });
    expect((await failureOf(agent.getTask({ id: 't-1' }))).message).toBe(
      `${url}/login answers 200 with text/html ("Sign in"), which is no answer of A2A`,
    );
  });

  it('keeps when to try again', async () => {
    const { url } = await serve((_, response) =>
      response.writeHead(429, { 'retry-after': '7' }).end('slow down'),
    );
    const agent = await connect(bothBindings(url), { binding, retry: false });
    expect(await failureOf(agent.getTask({ id: 't-1' }))).toMatchObject({ retryAfter: 7 });
  });
});

describe('in place of a card', () => {
  const elsewhere = '{"error":{"code":404,"message":"Nothing is here"}}';
  it.each([...answers, ['an agent, elsewhere', 404, json, elsewhere, '', 'Nothing is here'] as const])(
    '%s',
    async (_, status, type, body, _reason, words) => {
      const { url } = await serve((_, response) =>
        response.writeHead(status, { 'content-type': type }).end(body),
      );
      const { message } = await failureOf(connect(url, { retry: false }));
      expect(message).toContain(
        `${url}/.well-known/agent-card.json answers ${status} with ${type} ("${words}"), which is`,
      );
    },
  );
});

describe('no answer at all says what happened:', () => {
  const listening = async (server: ReturnType<typeof createTcpServer>, scheme = 'http') => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    return `${scheme}://127.0.0.1:${(server.address() as { port: number }).port}`;
  };
  const errorAt = async (url: string) => {
    const agent = await connect(bothBindings(url), { retry: false, fallback: false });
    return failureOf(agent.getTask({ id: 't-1' }));
  };

  it('a connection that breaks', async () => {
    const url = await listening(createTcpServer((socket) => socket.once('data', () => socket.destroy())));
    expect(await errorAt(url)).toMatchObject({
      code: 'NETWORK',
      message: `The connection to ${url}/ broke before the answer was complete (UND_ERR_SOCKET)`,
    });
  });

  it('a certificate that is not trusted', async () => {
    const server = createTlsServer(certificateOf('localhost'), (socket) => socket.destroy());
    const url = await listening(server, 'https');
    expect((await errorAt(url)).message).toMatch(
      /^No secure connection to https:.* \(DEPTH_ZERO_SELF_SIGNED_CERT\): its certificate is not trusted here, or it speaks no TLS$/,
    );
  });

  it('a port without TLS', async () => {
    const { url } = await serve((_, response) => response.end());
    expect((await errorAt(url.replace('http', 'https'))).message).toMatch(/^No secure connection to https:/);
  });
});
