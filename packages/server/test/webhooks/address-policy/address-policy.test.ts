import type { RequestListener } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listen } from '../../../../../test/kit/listen.ts';
import { AddressRefused, addressPolicy, fetchFile, safeFetch } from '../../../src/webhooks/address-policy.ts';
import { type Canary, canary } from './canary.ts';
import { hostileNames, hostileUrls } from './hostile-urls.ts';

/** Stands for the canary's port, which is not known before the tests run. */
const template = 40_404;

let bird: Canary;
beforeAll(async () => {
  bird = await canary();
});
afterAll(() => bird.close());

const resolve = async (name: string) => hostileNames[name] ?? ['93.184.216.34'];
const { signal } = new AbortController();

/** Resolves to the port. */
const portOf = async (listener: RequestListener) => Number(new URL(await listen(listener)).port);

describe('a hostile URL is refused and nothing is contacted [R-PUSH-40] [R-PUSH-41] [R-BIND-05]', () => {
  it.each(hostileUrls(template))('%s', async (_what, somewhere) => {
    const url = somewhere.replace(`:${template}`, `:${bird.port}`);
    const { attempts } = bird;
    const policy = addressPolicy({ resolve });
    await expect(policy.destination(url, signal)).rejects.toSatisfy((error) => AddressRefused.is(error));
    await expect(safeFetch(url, { resolve })).rejects.toSatisfy((error) => AddressRefused.is(error));
    await expect(fetchFile(url, { resolve })).rejects.toMatchObject({ reason: 'INVALID_PARAMS' });
    expect([bird.visits, bird.attempts]).toEqual([0, attempts]);
  });

  it('and there are enough of them', () => {
    expect(hostileUrls(1).length).toBeGreaterThan(80);
  });

  it('and the canary counts the connections that do arrive', async () => {
    const lonely = await canary();
    await expect(safeFetch(`http://127.0.0.1:${lonely.port}/`, { allow: ['127.0.0.1'] })).rejects.toThrow();
    await expect(safeFetch(`http://[::1]:${lonely.port}/`, { allow: ['::1'] })).rejects.toThrow();
    expect([lonely.visits, lonely.attempts]).toEqual([2, 2]);
    await lonely.close();
  });
});

describe('a name that is rebound', () => {
  it('is resolved once per request, and connected to as it was checked [R-PUSH-41]', async () => {
    const asked: string[] = [];
    const answers = [['93.184.216.34'], ['127.0.0.1']];
    const policy = addressPolicy({
      resolve: async (name) => {
        asked.push(name);
        return answers.shift() ?? ['127.0.0.1'];
      },
    });
    const url = `https://rebinding.example:${bird.port}/`;
    expect((await policy.destination(url, signal)).addresses).toEqual(['93.184.216.34']);
    await expect(policy.destination(url, signal)).rejects.toSatisfy((error) => AddressRefused.is(error));
    expect(asked).toEqual(['rebinding.example', 'rebinding.example']);
    expect(bird.visits).toBe(0);
  });

  it('cannot lead the connection elsewhere than to the checked address', async () => {
    const hosts: (string | undefined)[] = [];
    const port = await portOf((req, res) => res.end(String(hosts.push(req.headers.host))));
    let asked = 0;
    const response = await safeFetch(`http://pinned.example:${port}/path?q=1`, {
      allow: [`127.0.0.0/8:${port}`],
      resolve: async () => [['127.0.0.1'], ['10.0.0.1']][asked++] ?? [],
    });
    expect([await response.text(), hosts, asked]).toEqual(['1', [`pinned.example:${port}`], 1]);
  });
});

describe('a reply', () => {
  it('that redirects is not followed', async () => {
    let visits = 0;
    const target = await portOf((_req, res) => res.end(String(++visits)));
    const location = `http://127.0.0.1:${target}/`;
    const port = await portOf((_req, res) => res.writeHead(307, { location }).end());
    const allow = [`127.0.0.1:${port}`];
    const response = await safeFetch(`http://127.0.0.1:${port}/`, { allow });
    expect([response.status, response.headers.get('location'), visits]).toEqual([307, location, 0]);
    await expect(fetchFile(`http://127.0.0.1:${port}/`, { allow })).rejects.toMatchObject({
      message: 'The file cannot be fetched: its server did not deliver it',
    });
  });

  it.each([true, false])('longer than the limit is not read (announced: %s)', async (announced) => {
    const port = await portOf((_req, res) => {
      if (announced) res.setHeader('content-length', 5_000);
      res.write('x'.repeat(2_000));
    });
    const options = { allow: ['127.0.0.1'], maxBytes: 1_000 };
    await expect(safeFetch(`http://127.0.0.1:${port}/`, options)).rejects.toThrow('longer than 1000 bytes');
  });

  it('that takes too long is given up, before and after its status', async () => {
    const never = await portOf(() => {});
    const half = await portOf((_req, res) => res.write('half'));
    for (const port of [never, half])
      await expect(
        safeFetch(`http://127.0.0.1:${port}/`, { allow: ['127.0.0.1'], timeoutMs: 50 }),
      ).rejects.toMatchObject({ name: expect.stringMatching(/TimeoutError|AbortError/) });
  });

  it('that is none, because the server wants to talk something else, is an error', async () => {
    const port = await portOf((_req, res) => {
      res.writeHead(101, { connection: 'upgrade', upgrade: 'websocket' }).end();
    });
    await expect(safeFetch(`http://127.0.0.1:${port}/`, { allow: ['127.0.0.1'] })).rejects.toMatchObject({
      code: 'ECONNRESET',
      message: 'The connection was closed',
    });
  });

  it('of a resolver that never answers is given up too', async () => {
    const asking = safeFetch('https://slow.example/', {
      resolve: () => new Promise(() => {}),
      timeoutMs: 50,
    });
    await expect(asking).rejects.toMatchObject({ name: 'TimeoutError' });
  });

  it('is a file with its media type [R-BIND-05]', async () => {
    const port = await portOf((_req, res) =>
      res.writeHead(200, { 'content-type': 'text/csv ; charset=utf-8' }).end('a,b'),
    );
    const file = await fetchFile(`http://127.0.0.1:${port}/data.csv`, { allow: ['127.0.0.1'] });
    expect([Buffer.from(file.bytes).toString(), file.mediaType]).toEqual(['a,b', 'text/csv']);
  });
});

describe('a request that is allowed', () => {
  it.each([
    ['https://93.184.216.34/'],
    ['https://[2606:2800:220:1:248:1893:25c8:1946]/'],
    ['https://[64:ff9b::5db8:d822]/'],
    ['https://public.example/hook?x=1'],
    ['https://public.example:8443/'],
    ['https://public.example./'],
  ])('%s', async (url) => {
    expect((await addressPolicy({ resolve }).destination(url, signal)).url.href).toBe(url);
  });

  it.each([
    ['localhost:*', 'http://localhost:1234/', true],
    ['localhost', 'http://localhost./', true],
    ['localhost:80', 'http://localhost:81/', false],
    ['127.0.0.1:*', 'http://2130706433:1/', true],
    ['127.0.0.1:*', 'http://127.0.0.2:1/', false],
    ['127.0.0.0/8', 'http://127.0.0.2:1/', true],
    ['10.0.0.0/8:8080', 'https://private.example:8080/', true],
    ['10.0.0.0/8:8080', 'https://private.example/', false],
    ['[::1]:*', 'http://[::1]:1/', true],
    ['::1', 'http://[::1]:1/', true],
    ['fd00::/8', 'https://[fd00:ec2::254]/', true],
    ['[fd00::/8]:443', 'https://[fd00:ec2::254]/', true],
    ['*.corp.example:25', 'http://mail.corp.example:25/', true],
    ['*.corp.example', 'https://evilcorp.example:25/', false],
    ['127.0.0.1', 'http://[::ffff:127.0.0.1]/', false],
    ['*', 'http://[::1]:7/', true],
    ['*', 'file:///etc/passwd', false],
    ['*', 'http://user@localhost/', false],
  ])('with %s listed: %s %s', async (entry, url, accepted) => {
    const asking = addressPolicy({ allow: [entry], resolve }).destination(url, signal);
    if (accepted) await asking;
    else await expect(asking).rejects.toSatisfy((error) => AddressRefused.is(error));
  });

  it('has the ports that are listed, and TLS where that is asked for', () => {
    expect(() => addressPolicy({ ports: [443] }).check('https://public.example:8443/')).toThrow('port 8443');
    expect(() => addressPolicy({ http: false }).check('http://public.example/')).toThrow(
      'must be an https URL',
    );
    expect(addressPolicy({ http: false }).check('https://public.example/').port).toBe('');
    expect(addressPolicy({ ports: [25] }).check('https://public.example:25/').port).toBe('25');
  });

  it.each(['', 'host:', ':80', 'host:0', 'host:99999', '10.0.0.0/99', 'name/8', '[::1', 'http://host/'])(
    'cannot be listed as "%s"',
    (entry) => {
      const what = /\/\d/.test(entry) ? "addresses such as '10.0.0.0/8'" : "entries such as 'localhost:8080'";
      expect(() => addressPolicy({ allow: [entry] })).toThrow(
        new TypeError(`\`allow\` cannot have '${entry}'; it takes ${what}`),
      );
    },
  );

  it('may be as long as 8,192 characters', () => {
    const url = 'https://public.example/';
    expect(addressPolicy({ resolve }).check(url.padEnd(8_192, 'x')).host).toBe('public.example');
  });

  it.each([
    ['https://user@public.example/', 'must not contain credentials'],
    ['https://:password@public.example/', 'must not contain credentials'],
    ['/hook', 'must be an absolute URL'],
    ['ftp://public.example/', 'must be an https URL'],
    [`https://public.example/${'x'.repeat(8_192)}`, 'must have at most 8192 characters'],
  ])('is not %.40s: it %s', (url, message) => {
    expect(() => addressPolicy({ resolve }).check(url)).toThrow(message);
  });
});
