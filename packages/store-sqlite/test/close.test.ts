import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { sqliteStore } from '../src/index.ts';
import { freshPath } from './folder.ts';
import { chunk, commitOf, create } from './logs.ts';
import { start } from './other-process.ts';

describe('close', () => {
  it('finishes calls that are under way', async () => {
    const path = freshPath();
    const store = sqliteStore(path, { durability: 'normal' });
    await create(store, 't');
    const chunks = Array.from({ length: 20_000 }, (_, n) => chunk(n + 1));
    await store.commit(commitOf('t', 1, chunks));
    const under = [
      create(store, 'a'),
      store.load('s', 't'),
      create(store, 'b'),
      store.list('s', { limit: 1 }),
    ] as const;
    await store.close();
    const [a, log, b, page] = await Promise.all(under);
    expect([a.version, log?.facts.length, b.version, page.total]).toEqual([1, 20_001, 1, 1]);
    const again = sqliteStore(path);
    expect((await again.list('s', { limit: 1 })).total).toBe(3);
    await again.close();
  });

  it('may be called again, and lets go of the file', async () => {
    const path = freshPath();
    const store = sqliteStore(path);
    await create(store, 't');
    await store.subscribe({ queue: 'q' }, () => {});
    const closing = [store.close(), store.close()];
    await Promise.all(closing);
    await store.close();
    expect(existsSync(`${path}-wal`)).toBe(false);
  });

  it('makes every later call fail and say why', async () => {
    const store = sqliteStore(freshPath());
    await create(store, 't');
    const unsubscribe = await store.subscribe({ queue: 'q' }, () => {});
    await store.close();
    const closed = expect.objectContaining({
      code: 'UNAVAILABLE',
      message: expect.stringMatching(/tasks\.db is closed/),
    });
    const calls: unknown[] = [
      create(store, 'u'),
      store.load('s', 't'),
      store.readFacts('s', 't', 0, 9),
      store.list('s', { limit: 9 }),
      store.subscribe({ queue: 'q' }, () => {}),
      store.claim({ queue: 'q', holder: 'h', ttlMs: 1, limit: 1 }),
      store.renew([], 1),
      store.waiting('q'),
      store.prune({ closedBefore: new Date().toISOString(), limit: 1 }),
      store.claimDeliveries({ queue: 'q', holder: 'h', ttlMs: 1, limit: 1 }),
      store.getPushConfig('s', 't', 'c'),
    ];
    for (const one of await Promise.allSettled(calls))
      expect(one).toEqual({ status: 'rejected', reason: closed });
    await unsubscribe();
  });
});

describe('a process with an open store', () => {
  it('ends when it has nothing else to do, even while it has subscribers', async () => {
    const child = start(new URL('./subscribe-and-end.ts', import.meta.url), [freshPath()], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const [code] = await once(child, 'exit');
    expect(code).toBe(0);
  });
});
