import { describe, expect, it } from 'vitest';
import { loopback } from '../src/node/loopback.ts';
import { failureOf } from './agent.ts';

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
