import { describe, expect, it } from 'vitest';
import { storeTimeline } from '../../src/timeline/store-timeline.ts';
import { withoutQuery } from '../../src/wire/secrets.ts';
import { at, isLive, read } from './written-stream.ts';

describe('the timeline of a store', () => {
  const fact = (version: number) => ({ version, fact: { type: 'x', at } });

  /** A store that is written by hand. */
  function stored(
    count: number,
    more: { dueAt?: string; lease?: object[]; hooks?: object[][]; hasWebhooks?: boolean } = {},
  ) {
    const facts = Array.from({ length: count }, (_, n) => fact(n + 1));
    const reads: number[] = [];
    let wake = () => {};
    let unsubscribed = 0;
    const leases = [...(more.lease ?? [])];
    const hooks = [...(more.hooks ?? [])];
    const asked: unknown[] = [];
    const tasks = {
      load: async () => ({ version: facts.length, head: { ...(more.dueAt && { dueAt: more.dueAt }) } }),
      identity: async () => 'store',
      async subscribe(_: unknown, listener: () => void) {
        wake = listener;
        return async () => {
          unsubscribed += 1;
        };
      },
      async readFacts(_scope: string, _task: string, after: number, limit: number) {
        reads.push(after);
        return facts.slice(after, after + limit);
      },
      ...(more.lease && { lease: async () => (leases.length > 1 ? leases.shift() : leases[0]) }),
    };
    const webhooks = {
      async listPushConfigs(...args: unknown[]) {
        asked.push(args);
        return hooks.length > 1 ? hooks.shift() : hooks[0];
      },
    };
    const feed =
      (after = 0, source: string | null = null) =>
      (signal: AbortSignal) =>
        storeTimeline(
          {
            tasks,
            webhooks: more.hooks && webhooks,
            unserved: { versionFor: async () => undefined },
          } as never,
          's' as never,
          't',
          { after, source },
          signal,
        );
    return {
      feed,
      reads,
      asked,
      unsubscribed: () => unsubscribed,
      write() {
        facts.push(fact(facts.length + 1));
        wake();
      },
    };
  }

  it('has all facts, 500 at a time, and each new one when it is told of', async () => {
    const { feed, reads, write, unsubscribed } = stored(501);
    let lives = 0;
    const updates = await read(
      feed(),
      (update) => isLive(update) && lives > 1,
      (update) => {
        if (isLive(update)) lives += 1;
        if (isLive(update) && lives === 1) queueMicrotask(write);
      },
    );
    expect(
      updates.map((update) => (update.type === 'entries' ? update.entries.length : update.type)),
    ).toEqual(['open', 500, 1, 'beside', 'live', 1, 'live']);
    expect(updates[0]).toMatchObject({ type: 'open', source: 'store', kind: 'log', isRestart: false });
    expect(updates[1]).toMatchObject({ entries: { 0: { seq: 1, at, fact: { type: 'x' } } } });
    expect([reads.slice(0, 3), unsubscribed()]).toEqual([[0, 500, 501], 1]);
  });

  it.each<[number, string | null, boolean, number]>([
    [0, 'other', false, 0],
    [3, 'store', false, 3],
    [4, 'store', true, 0],
    [2, 'other', true, 0],
    [2, null, true, 0],
  ])('from %i of the store %s begins again: %s', async (after, source, isRestart, from) => {
    const { feed, reads } = stored(3);
    const [open] = await read(feed(after, source), isLive);
    expect([open, reads[0]]).toMatchObject([{ type: 'open', source: 'store', kind: 'log', isRestart }, from]);
  });

  it('has a lease, a deadline and deliveries beside it, whenever one of them changes', async () => {
    const hook = (cursor: number, more: object = {}) => ({
      id: 'w',
      config: { url: 'http://u:p@a/x?s' },
      cursor,
      attempts: 0,
      ...more,
    });
    const { feed, asked, write } = stored(1, {
      dueAt: 'soon',
      lease: [
        { fence: 1, isWanted: false },
        { fence: 2, holder: 'h', isWanted: false },
        { fence: 2, holder: 'h', isWanted: false },
        { fence: 2, isWanted: false },
      ],
      hooks: [[hook(1)], [hook(1), hook(2, { id: 'v' })], [hook(1, { retryAt: 'later', dead: 'no' })]],
    });
    let lives = 0;
    const updates = await read(
      feed(),
      (update) => isLive(update) && lives > 3,
      (update) => {
        if (isLive(update)) lives += 1;
        // Nobody waits for the next look.
        if (isLive(update)) queueMicrotask(write);
      },
    );
    const delivery = (id: string, cursor: number, more: object = {}) => ({
      id,
      url: 'http://a/x',
      cursor,
      attempts: 0,
      ...more,
    });
    const held = { fence: 2, holder: 'h', isWanted: false };
    expect(updates.flatMap((update) => (update.type === 'beside' ? update.beside : []))).toEqual([
      { dueAt: 'soon', deliveries: [delivery('w', 1)] },
      { lease: held, dueAt: 'soon', deliveries: [delivery('w', 1), delivery('v', 2)] },
      { lease: held, dueAt: 'soon', deliveries: [delivery('w', 1, { retryAt: 'later', dead: 'no' })] },
      { dueAt: 'soon', deliveries: [delivery('w', 1, { retryAt: 'later', dead: 'no' })] },
    ]);
    expect(asked[0]).toEqual(['s', 't', { limit: 20 }]);
  });

  it('says beside it that a turn is wanted, and for which version it waits, and nothing of a task that is gone', async () => {
    let loads = 0;
    const tasks = {
      load: async () => (loads++ === 0 ? { version: 0, head: {} } : undefined),
      identity: async () => 'store',
      subscribe: async () => async () => {},
      readFacts: async () => [],
      lease: async () => ({ fence: 1, isWanted: true }),
    };
    const unserved = { versionFor: async (scope: string, id: string) => `${scope} ${id}` };
    const feed = (signal: AbortSignal) =>
      storeTimeline({ tasks, unserved, queue: 'q' } as never, 's', 't', { after: 0, source: null }, signal);
    const updates = await read(feed, isLive);
    expect(updates.find(({ type }) => type === 'beside')).toStrictEqual({
      type: 'beside',
      beside: {
        lease: { fence: 1, isWanted: true },
        waitsFor: { version: 's t', queue: 'q' },
        deliveries: [],
      },
    });
  });

  it('says that there is no such task', async () => {
    const tasks = { load: async () => undefined };
    const feed = () =>
      storeTimeline(
        { tasks } as never,
        's' as never,
        't',
        { after: 0, source: null },
        new AbortController().signal,
      );
    expect(await read(feed, () => false)).toEqual([{ type: 'problem', message: 'The store has no task t' }]);
  });

  it('shows addresses without what may be secret', () => {
    expect(['https://u:p@a.example:1/b?c#d', 'none'].map(withoutQuery)).toEqual([
      'https://a.example:1/b',
      '',
    ]);
  });
});
