import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { describe, expect, it } from 'vitest';
import { loopback } from '../src/node/loopback.ts';
import { failureOf } from './agent.ts';

/** Another address of this machine: only a server that listens on all of them answers there. */
const otherAddress = Object.values(networkInterfaces()).some((all) =>
  all?.some(({ address }) => address === '::1'),
)
  ? '::1'
  : '127.0.0.2';

/** An authorization URL for a redirect address. */
const begin = async (redirectUri: string) =>
  new URL(`https://id.example/auth?state=right&redirect_uri=${redirectUri}`);

const redirectOf = (url: URL) => url.searchParams.get('redirect_uri')!;

describe('a program that listens for the redirect', () => {
  it('answers nothing but the redirect of its flow, and listens no longer than that', async () => {
    let redirectUri = '';
    const statuses: number[] = [];
    const visit = async (url: URL) => {
      redirectUri = redirectOf(url);
      const { origin } = new URL(redirectUri);
      const ask = async (address: string, init?: RequestInit) =>
        statuses.push((await fetch(address, init)).status);
      await ask(`${redirectUri}?state=wrong&code=evil`);
      await ask(`${redirectUri}?code=evil`);
      await ask(`${origin}/other?state=right&code=evil`);
      await ask(`${redirectUri}?state=right&code=evil`, { method: 'POST' });
      await ask(`${redirectUri}?state=right&code=good`);
    };
    let visited: Promise<void> | undefined;
    const authorize = loopback({
      open(url) {
        visited = visit(url);
        return visited;
      },
    });
    const redirected = new URL(await authorize(begin));
    await visited;
    expect(statuses).toEqual([404, 404, 404, 404, 200]);
    expect(redirected.searchParams.get('code')).toBe('good');
    expect(new URL(redirectUri).hostname).toBe('127.0.0.1');
    await expect(fetch(redirectUri)).rejects.toThrow();
  });

  it('is reached from this machine only, and closes what is open at the end', async () => {
    const closed: Promise<unknown>[] = [];
    let elsewhere: unknown;
    const visit = async (url: URL) => {
      const port = Number(new URL(redirectOf(url)).port);
      for (const begun of ['', 'GET /callback HTTP/1.1\r\n']) {
        const socket = connect(port, '127.0.0.1').on('error', () => {});
        await once(socket, 'connect');
        closed.push(new Promise((resolve) => socket.on('close', resolve)));
        if (begun) await new Promise<void>((resolve) => socket.write(begun, () => resolve()));
      }
      elsewhere = await once(connect(port, otherAddress), 'connect').catch(({ code }) => code);
      await fetch(`${redirectOf(url)}?state=right`);
    };
    await loopback({ open: (url) => visit(url) })(begin);
    await Promise.all(closed);
    expect(elsewhere).toMatch(/^E/);
  });

  it('gives up when the time is over', async () => {
    let redirectUri = '';
    const open = (url: URL) => {
      redirectUri = redirectOf(url);
    };
    expect(await failureOf(loopback({ open, timeoutMs: 10 })(begin))).toMatchObject({
      code: 'REFUSED',
      message: 'No redirect arrived within 10 ms',
    });
    await expect(fetch(redirectUri)).rejects.toThrow();
  });

  it('neither needs nor awaits the end of `open`', async () => {
    const never = new Promise(() => {});
    const open = () => never;
    expect(await failureOf(loopback({ open, timeoutMs: 10 })(begin))).toMatchObject({ code: 'REFUSED' });
    const browser = async (url: URL) => {
      await fetch(`${redirectOf(url)}?state=right&code=good`);
      await never;
    };
    const redirected = new URL(await loopback({ open: browser })(begin));
    expect(redirected.searchParams.get('code')).toBe('good');
  });

  it('stops listening when the page cannot be opened', async () => {
    let redirectUri = '';
    const open = (url: URL) => {
      redirectUri = redirectOf(url);
      throw new Error('There is no browser');
    };
    expect(await failureOf(loopback({ open })(begin))).toMatchObject({ message: 'There is no browser' });
    await expect(fetch(redirectUri)).rejects.toThrow();
  });
});

describe('the page of a program that listens', () => {
  /** What a browser gets at the end, of a program with these options. */
  async function visited(more: Partial<Parameters<typeof loopback>[0]> = {}) {
    let opened: Promise<Response> | undefined;
    const authorize = loopback({
      open(url) {
        opened = fetch(`${redirectOf(url)}?state=right&code=good`);
        return opened;
      },
      ...more,
    });
    const redirected = await authorize(begin);
    return { answer: await opened!, redirected };
  }

  it('says that the window can be closed, and loads and tells nothing', async () => {
    const { answer, redirected } = await visited();
    const {
      date: _,
      'transfer-encoding': __,
      'content-length': ___,
      ...headers
    } = Object.fromEntries(answer.headers);
    expect(headers).toEqual({
      connection: 'close',
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
      'referrer-policy': 'no-referrer',
    });
    expect(await answer.text()).toBe('<!doctype html><title>Done</title><p>You can close this window.</p>');
    expect(new URL(redirected as URL).pathname).toBe('/callback');
  });

  it('may be another one, at another path and port', async () => {
    const free = createServer().listen(0, '127.0.0.1');
    await once(free, 'listening');
    const { port } = free.address() as { port: number };
    await new Promise((resolve) => free.close(resolve));
    const { answer, redirected } = await visited({ page: '<p>Bye', path: '/done/here', port });
    expect(await answer.text()).toBe('<p>Bye');
    expect(String(redirected)).toBe(`http://127.0.0.1:${port}/done/here?state=right&code=good`);
  });

  it('is not there for others, whose connections are closed', async () => {
    let other: Response | undefined;
    const visit = async (url: URL) => {
      other = await fetch(`${redirectOf(url)}?state=wrong`);
      await fetch(`${redirectOf(url)}?state=right`);
    };
    let visited: Promise<void> | undefined;
    const open = (url: URL) => {
      visited = visit(url);
      return visited;
    };
    await loopback({ open })(begin);
    await visited;
    expect([other!.status, other!.headers.get('connection'), await other!.text()]).toEqual([
      404,
      'close',
      '',
    ]);
  });

  it('is not there for an address of another origin, or one that is none', async () => {
    const statuses: string[] = [];
    const visit = async (url: URL) => {
      const { port, pathname } = new URL(redirectOf(url));
      for (const target of [
        `http://evil.example${pathname}?state=right`,
        'http://[',
        `${pathname}?state=right`,
      ])
        statuses.push(await statusOf(Number(port), target));
    };
    let visited: Promise<void> | undefined;
    const open = (url: URL) => {
      visited = visit(url);
      return visited;
    };
    await loopback({ open })(begin);
    await visited;
    expect(statuses).toEqual(['404', '404', '200']);
  });

  it('is waited for no longer than the flow lasts', async () => {
    const before = timers();
    await visited();
    for (let turn = 0; turn < 1_000 && timers() > before; turn += 1)
      await new Promise((resolve) => setImmediate(resolve));
    expect(timers()).toBeLessThanOrEqual(before);
  });
});

/** The status that a request with this target, which `fetch` would not send, gets. */
async function statusOf(port: number, target: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.end(`GET ${target} HTTP/1.1\r\nhost: x\r\n\r\n`);
  let text = '';
  for await (const chunk of socket) text += chunk;
  return text.split(' ')[1] ?? '';
}

/** How many timers keep the process running. */
const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
