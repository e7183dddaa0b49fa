import { createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listen } from '../../../../../test/kit/listen.ts';
import { resolveHost } from '../../../src/webhooks/address-policy/resolve-host.ts';
import { sendTo } from '../../../src/webhooks/address-policy/send-to.ts';
import { addressPolicy, safeFetch } from '../../../src/webhooks/address-policy.ts';

const { signal } = new AbortController();

describe('a request to the addresses of a destination', () => {
  it('carries method, path, query, headers and body, and the name as its host', async () => {
    const seen: unknown[] = [];
    const url = await listen((request, response) => {
      request.setEncoding('utf8').on('data', (body) => {
        const { method, url, headers } = request;
        seen.push(method, url, headers.host, headers['x-a'], headers.connection, body);
        response.writeHead(201, { 'x-b': ['1', '2'], 'set-cookie': ['c=1', 'd=2'] }).end('answer');
      });
    });
    const { port } = new URL(url);
    const reply = await safeFetch(`http://some.example:${port}/a/b?c=d`, {
      ...{ method: 'PUT', headers: { 'x-a': '1' }, body: 'given', allow: ['127.0.0.1'] },
      resolve: async () => ['127.0.0.1'],
    });
    expect(seen).toEqual(['PUT', '/a/b?c=d', `some.example:${port}`, '1', 'close', 'given']);
    expect([reply.status, reply.headers.get('x-b'), reply.headers.getSetCookie()]).toEqual([
      201,
      '1, 2',
      ['c=1', 'd=2'],
    ]);
    expect(await reply.text()).toBe('answer');
  });

  it('without an address has none to go to', async () => {
    const url = new URL('http://some.example/');
    const sent = sendTo(
      { url, host: 'some.example', addresses: [] },
      { method: 'GET', headers: {} },
      { signal, maxBytes: 9 },
    );
    await expect(sent).rejects.toMatchObject({ code: 'ENOTFOUND', message: 'No address' });
  });

  const sendAndGet = async (answer: string, more: { maxBytes?: number; signal?: AbortSignal } = {}) => {
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () =>
        answer.endsWith('…') ? socket.write(answer.slice(0, -1)) : socket.end(answer),
      );
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as { port: number };
    const url = new URL(`http://127.0.0.1:${port}/`);
    const reply = await sendTo(
      { url, host: '127.0.0.1', addresses: ['127.0.0.1'] },
      { method: 'GET', headers: {} },
      { signal, maxBytes: 5, ...more },
    );
    return [reply.status, Buffer.from(reply.body).toString(), reply.complete];
  };

  it.each<[string, string, unknown[]]>([
    ['is whole', 'HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nabc', [200, 'abc', true]],
    ['is as long as it may be', 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nabcde', [200, 'abcde', true]],
    ['is longer', 'HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nabcdef…', [200, '', false]],
    ['breaks off', 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc', [200, 'abc', false]],
    ['redirects', 'HTTP/1.1 302 Found\r\nlocation: /x\r\ncontent-length: 0\r\n\r\n', [302, '', true]],
  ])('has a reply that %s', async (_, answer, reply) => {
    expect(await sendAndGet(answer)).toEqual(reply);
  });

  it('that is given up after its status has what came so far, and says that this is not all', async () => {
    const stop = new AbortController();
    const url = await listen((_, response) => void response.writeHead(200).write('ab'));
    const host = '127.0.0.1';
    const destination = { url: new URL(url), host, addresses: [host] };
    const sent = sendTo(destination, { method: 'GET', headers: {} }, { signal: stop.signal, maxBytes: 9 });
    // Its status is read soon after; before that, the request has the reason.
    const given = await Promise.race([sent, new Promise((resolve) => setTimeout(resolve, 200))]);
    expect(given).toBeUndefined();
    stop.abort(new Error('late'));
    expect(await sent.catch(() => ({ complete: false }))).toMatchObject({ complete: false });
  });

  it('that is given up before it began has the reason', async () => {
    const reason = new Error('before');
    await expect(sendAndGet('…', { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });
});

describe('a name', () => {
  it('that is asked of the DNS is asked no longer when that is not wanted any more', async () => {
    const stop = new AbortController();
    const asked = resolveHost!('nobody.invalid', stop.signal);
    stop.abort();
    await expect(asked).rejects.toMatchObject({ code: expect.stringMatching(/^E/) });
  });

  it.each([
    ['localhost', 'must lead to a public address'],
    ['a.localhost', 'must lead to a public address'],
    ['intranet', 'must lead to a public address'],
    ['public.example:81', 'must not have port 81'],
    ['public.example:1023', 'must not have port 1023'],
  ])('such as %s is refused: %s', (host, why) => {
    expect(() => addressPolicy().check(`http://${host}/`)).toThrow(why);
  });

  it.each([80, 443, 1_024, 65_535])('may be asked at port %d', (port) => {
    for (const scheme of ['http', 'https'])
      expect(addressPolicy().check(`${scheme}://public.example:${port}/`).hostname).toBe('public.example');
  });

  it('that is listed for one port is so for the default one of its scheme only', () => {
    const policy = addressPolicy({ allow: ['localhost:443'] });
    expect(policy.check('https://localhost/').port).toBe('');
    expect(() => policy.check('http://localhost/')).toThrow('must lead to a public address');
  });
});
