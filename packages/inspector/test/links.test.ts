import { join } from 'node:path';
import type { TaskStore } from '@batonjs/store';
import { sqliteStore } from '@batonjs/store-sqlite';
import express from 'express';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { closedAfterTest } from '../../../test/kit/closed-after-test.ts';
import { change } from '../../../test/kit/faulty-store.ts';
import { listen } from '../../../test/kit/listen.ts';
import { temporaryFolder } from '../../../test/kit/temporary-folder.ts';
import type { ActionRecord, LookLinks } from '../src/api/agent.ts';
import { inspector } from '../src/index.ts';
import type { InspectorOptions, Viewer } from '../src/options.ts';
import { token } from './inspected-servers.ts';

const dayMs = 86_400_000;
const isOver = 'This link was opened before, has expired or was taken back: ask for another one';

interface Reply {
  readonly status: number;
  readonly cookie: string | null;
  readonly json: Record<string, never> & { readonly problem?: { readonly message: string } };
}

const known: Readonly<Record<string, Viewer>> = {
  'Bearer ada': { name: 'Ada', may: ['share'] },
  'Bearer bob': {},
};

/** Who lets in: Ada, who may share, and Bob, who may look. */
const ways = {
  'the token': [{ token, allow: ['share'] }, `Bearer ${token}`],
  authenticate: [{ authenticate: ({ headers }) => known[headers.authorization ?? ''] }, 'Bearer ada'],
} as const satisfies Record<string, readonly [Partial<InspectorOptions>, string]>;

/** An inspector below /ops of an Express program, and functions that ask it. */
async function served(options: Partial<InspectorOptions>, authorization: string) {
  const handler = inspector({ url: 'http://127.0.0.1:9', name: 'show', ...options });
  onTestFinished(() => handler.close());
  const url = await listen(express().use('/ops', handler).use('/other', handler) as never);
  const ask = async (path: string, headers: Record<string, string>, body?: unknown): Promise<Reply> => {
    const response = await fetch(`${url}${path}`, {
      headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
    });
    return {
      status: response.status,
      cookie: response.headers.get('set-cookie'),
      json: await response.json(),
    };
  };
  const own = (path: string, body?: unknown) => ask(`/ops/api${path}`, { authorization }, body);
  const open = (secret: unknown, headers = {}) => ask('/ops/api/look', headers, { secret });
  return {
    url,
    ask,
    own,
    open,
    make: async (name = 'Ana', expiresMs = 7 * dayMs) =>
      String((await own('/links', { name, expiresMs })).json.secret),
    links: async () => ((await own('/links')).json as unknown as LookLinks).links,
    records: async () => (await own('/activity')).json.records as unknown as ActionRecord[],
    /** With the cookie that a link gave. */
    look: ({ cookie }: Pick<Reply, 'cookie'>, path = '/session', body?: unknown, headers = {}) =>
      ask(`/ops/api${path}`, { cookie: cookie!.split(';')[0]!, ...headers }, body),
  };
}

const refused = { status: 401, json: { problem: { message: isOver } } };
const stored = (folder = temporaryFolder()) => closedAfterTest(sqliteStore(join(folder, 'tasks.db')));
const stores: Readonly<Record<string, () => { readonly store?: TaskStore }>> = {
  'kept in a store': () => ({ store: stored() }),
  'kept by the process': () => ({}),
};

describe.each(Object.entries(ways))('a link of an inspector with %s', (way, [options, authorization]) => {
  describe.each(Object.entries(stores))('%s', (place, storeFor) => {
    const serve = () => served({ ...options, ...storeFor() }, authorization);

    it('lets a colleague look, once it was exchanged for a cookie, and nothing more', async () => {
      const { make, open, look, links, own, ask, records } = await serve();
      const secret = await make(' Ana ');
      expect(secret).toMatch(/^[\w-]{43}$/);
      const by = way === 'authenticate' ? { by: 'Ada' } : {};
      const made = {
        id: expect.any(String),
        name: 'Ana',
        ...by,
        at: expect.any(String),
        expiresAt: expect.any(String),
      };
      expect(await links()).toEqual([made]);
      const opened = await open(secret);
      expect([opened.status, opened.json]).toEqual([200, {}]);
      expect(opened.cookie).toMatch(/^baton-look=[\w-]{43}; HttpOnly; SameSite=Strict; Max-Age=604800$/);
      expect((await look(opened)).json).toMatchObject({ viewer: 'Ana', may: [], agents: [{ id: 'show' }] });
      expect(await links()).toEqual([{ ...made, openedAt: expect.any(String) }]);
      for (const [path, body] of [
        ['/links'],
        ['/agents/show/wire'],
        ['/links', {}],
        ['/kill', {}],
        ['/look2', {}],
        ['/erase', {}],
      ])
        expect([path, (await look(opened, path as string, body)).status]).toEqual([path, 403]);
      expect((await look(opened, '/activity')).json.records).toHaveLength(2);
      // Its own viewers come first, and a wrong token does not stand in the way.
      expect((await look(opened, '/session', undefined, { authorization })).json.may).toEqual(['share']);
      expect((await look(opened, '/session', undefined, { authorization: 'Bearer x' })).json.viewer).toBe(
        'Ana',
      );
      expect(
        await look(opened, '/links', { takeBack: (await links())[0]!.id }, { authorization }),
      ).toMatchObject({ status: 200 });
      expect(await look(opened)).toMatchObject(refused);
      const [at, action] = [expect.any(String), 'share'];
      const tried = { at, by: 'Ana', action, problem: expect.stringContaining('does not allow you') };
      expect(await records()).toEqual([{ at, ...by, action }, tried, { at, ...by, action }]);
      const said = JSON.stringify([
        await own('/activity'),
        await own('/links'),
        await ask('/ops/api/links', {}),
      ]);
      expect(said).not.toMatch(new RegExp(`${secret}|${opened.cookie!.slice(11, 54)}|digest`));
      expect((await own('/links')).json).toMatchObject({
        areKept: place === 'kept in a store',
        isLocal: way === 'the token',
      });
    });

    it('opens nothing when it is wrong, used, over, taken back or forged, which one sentence says', async () => {
      vi.useFakeTimers({ toFake: ['Date'] });
      onTestFinished(() => void vi.useRealTimers());
      const { make, open, look, links, own, url, ask } = await serve();
      const [used, late, gone] = [await make(), await make('Bea', dayMs), await make('Cem')];
      const [first, second] = [await open(used), await open(await make('Dan', dayMs))];
      await own('/links', { takeBack: (await links()).find(({ name }) => name === 'Cem')!.id });
      for (const secret of [
        '',
        'x',
        used,
        gone,
        first.cookie!.slice(11, 54),
        `${late}x`,
        7,
        null,
        ['a'],
        undefined,
      ])
        expect([secret, await open(secret)]).toMatchObject([secret, { ...refused, cookie: null }]);
      vi.setSystemTime(Date.now() + dayMs);
      expect(await open(late)).toMatchObject(refused);
      expect(await look(second)).toMatchObject(refused);
      expect((await look(first)).status).toBe(200);
      expect(await links()).toHaveLength(1);
      const forged = `baton-look=${'A'.repeat(43)}`;
      const unopened = await make();
      for (const cookie of [forged, `a=b; ${forged}`, `baton-look=${used}`, `baton-look=${unopened}`])
        expect(await look(first, '/session', undefined, { cookie })).toMatchObject(refused);
      for (const cookie of ['baton-look=', 'baton-look=x', `x-${first.cookie!}`, `${forged}A`])
        expect((await look({ cookie })).json.problem?.message).not.toBe(isOver);
      // The checks of each request stand before it, and nothing large is read.
      const other = { origin: 'http://evil.example' };
      expect((await open(await make(), other)).status).toBe(403);
      expect((await look(first, '/session', undefined, other)).status).toBe(403);
      expect((await look(first, '/session', undefined, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
      expect((await open('x'.repeat(300))).status).toBe(413);
      expect((await ask('/ops/api/look', {}, 'x')).status).toBe(401);
      expect(await (await fetch(`${url}/ops/api/look`, { method: 'POST' })).json()).toMatchObject({
        problem: { message: 'The body must be JSON' },
      });
    });

    it('is for a name and at most 30 days, is one of at most 100, and is made by those who may', async () => {
      const { own, make, links, ask } = await serve();
      for (const body of [
        {},
        { name: ' ' },
        { name: 'x'.repeat(101) },
        { name: 'a\nb' },
        { name: '\ud800' },
        { expiresMs: 0 },
        { expiresMs: 30 * dayMs + 1 },
        { expiresMs: 'soon' },
      ])
        expect(
          await own('/links', {
            name: 'Ana',
            ...(Object.keys(body).length > 0 && { expiresMs: dayMs }),
            ...body,
          }),
        ).toMatchObject({ status: 400 });
      for (let n = 0; n < 100; n += 1) await make('😀'.repeat(100), 30 * dayMs);
      expect(await own('/links', { name: 'Ana', expiresMs: 1 })).toMatchObject({
        status: 409,
        json: { problem: { message: 'There are 100 links: take one back first' } },
      });
      const takeBack = (await links())[0]!.id;
      expect((await own('/links', { takeBack })).json.links).toHaveLength(99);
      expect((await own('/links', { takeBack })).json.links).toHaveLength(99);
      expect(await make()).toMatch(/^[\w-]{43}$/);
      const bob = { authorization: 'Bearer bob' };
      for (const [path, body] of [
        ['/links'],
        ['/links', { name: 'Ana', expiresMs: 1 }],
        ['/links', { takeBack }],
      ])
        expect((await ask(`/ops/api${path}`, bob, body)).status).toBe(way === 'authenticate' ? 403 : 401);
    });

    it('is not used up by those who are let in anyway, and its cookie is for https where the page is', async () => {
      const { make, open, look, url } = await serve();
      const secret = await make();
      expect(await open(secret, { authorization })).toMatchObject({ status: 200, cookie: null });
      const opened = await open(secret, { origin: url.replace('http:', 'https:') });
      expect(opened.cookie).toMatch(/; Secure$/);
      expect((await look(opened)).status).toBe(200);
    });

    it('ends the feeds that it opened when it is taken back', async () => {
      const { make, open, links, own, url } = await serve();
      const { cookie } = await open(await make());
      const feed = await fetch(`${url}/ops/api/feed`, { headers: { cookie: cookie!.split(';')[0]! } });
      const reader = feed.body!.getReader();
      expect((await reader.read()).done).toBe(false);
      await own('/links', { takeBack: (await links())[0]!.id });
      const toEnd = async () => {
        while (!(await reader.read()).done);
      };
      await expect(toEnd()).rejects.toThrow();
    });
  });

  it('is looked after no more for a browser that left before the store knew it', async () => {
    const [asked, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let isSlow = false;
    const store = change(stored(), {
      getRecord: (get) => async (name) => {
        if (isSlow) asked.resolve();
        if (isSlow) await answer.promise;
        return get(name);
      },
    });
    const { make, open, url } = await served({ ...options, store }, authorization);
    const cookie = (await open(await make())).cookie!.split(';')[0]!;
    isSlow = true;
    const leaving = new AbortController();
    const feed = fetch(`${url}/ops/api/feed`, { headers: { cookie }, signal: leaving.signal });
    await asked.promise;
    leaving.abort();
    await expect(feed).rejects.toThrow();
    // The end of the connection comes to the inspector before another request is answered.
    await fetch(`${url}/ops/`);
    const timers = vi.spyOn(globalThis, 'setInterval');
    onTestFinished(() => timers.mockRestore());
    answer.resolve();
    isSlow = false;
    await open('x');
    expect(timers).not.toHaveBeenCalled();
  });

  it('is one for all processes of the inspector, which exchange it once and know its end', async () => {
    const folder = temporaryFolder();
    const process = () => served({ ...options, store: stored(folder) }, authorization);
    const [one, other] = [await process(), await process()];
    for (let n = 0; n < 5; n += 1) {
      const secret = await one.make();
      const both = await Promise.all([
        one.open(secret),
        other.open(secret),
        one.open(secret),
        other.open(secret),
      ]);
      expect(both.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401]);
      const opened = both.find(({ status }) => status === 200)!;
      for (const each of [one, other, await process()])
        expect((await each.look(opened)).json.viewer).toBe('Ana');
      await other.own('/links', { takeBack: (await one.links()).at(-1)!.id });
      expect(await one.look(opened)).toMatchObject(refused);
    }
    expect(await one.records()).toEqual(await other.records());
    expect(await one.records()).toHaveLength(10);
  });

  it('opens no inspector that shows other callers or agents of the same store', async () => {
    const store = stored();
    const few = await served({ ...options, store, callers: [{ caller: 'bob' }] }, authorization);
    const [secret, opened] = [await few.make(), await few.open(await few.make())];
    expect((await few.look(opened)).status).toBe(200);
    for (const more of [
      { store },
      { store, callers: [{ caller: 'ada' }] },
      { agents: [{ store, name: 'show' }, { url: 'http://127.0.0.1:9' }] },
    ]) {
      const other = await served({ ...options, ...more }, authorization);
      expect(await other.look(opened)).toMatchObject(refused);
      expect(await other.open(secret)).toMatchObject(refused);
      expect(await other.links()).toEqual([]);
    }
  });
});
