import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sleep } from '@batonjs/protocol/timing';
import type { TaskStore } from '@batonjs/store';
import { etcdStore } from '@batonjs/store-etcd';
import { memoryStore } from '@batonjs/store-memory';
import { postgresStore } from '@batonjs/store-postgres';
import { redisStore } from '@batonjs/store-redis';
import { sqliteStore } from '@batonjs/store-sqlite';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { closedAfterTest } from '../../../../../test/kit/closed-after-test.ts';
import { rpc, say } from '../../../../../test/kit/rpc.ts';
import { serve } from '../../../../../test/kit/serve.ts';
import { eventually } from '../../../../../test/kit/until.ts';
import { etcdForTests } from '../../../../../test/support/etcd.ts';
import { postgresForTests } from '../../../../../test/support/postgres.ts';
import { redisForTests } from '../../../../../test/support/redis.ts';
import { type Agent, completed, inputRequired } from '../../../src/index.ts';
import { createWorker } from '../../../src/worker.ts';

const [redis, postgres, etcd] = await Promise.all([redisForTests(), postgresForTests(), etcdForTests()]);
const folder = mkdtempSync(join(tmpdir(), 'baton-retention-'));
afterAll(() => rmSync(folder, { recursive: true }));
/** Of the databases, which other files use as well. */
const part = `retention-${randomUUID()}`;

const day = 24 * 60 * 60 * 1_000;

/** Ends at once, or asks. */
const agent: Agent = async function* ({ text }) {
  yield text === 'ask' ? inputRequired('Well?') : completed();
};

async function send(server: ReturnType<typeof serve>, text: string): Promise<string> {
  const { task } = await rpc(server, 'SendMessage', { message: say(text) });
  return task.id;
}

/** The store, and what is deleted through it. */
function observed(store: TaskStore) {
  const deletions: { readonly limit: number; readonly deleted: number }[] = [];
  const asked: Promise<unknown>[] = [];
  return {
    deletions,
    /** The questions for the right to delete. */
    asked,
    store: {
      ...store,
      putRecord(...given) {
        const put = store.putRecord(...given);
        if (given[0] === 'retention') asked.push(put);
        return put;
      },
      async prune(options) {
        const deleted = await store.prune(options);
        deletions.push({ limit: options.limit, deleted });
        return deleted;
      },
    } satisfies TaskStore,
  };
}

const stores: [string, () => TaskStore][] = [
  ['memory', memoryStore],
  ['SQLite', () => sqliteStore(join(folder, 'tasks.db'))],
  ...(redis
    ? [['Redis', () => redisStore({ url: redis.url, prefix: part })] as [string, () => TaskStore]]
    : []),
  ...(postgres
    ? [['PostgreSQL', () => postgresStore(postgres.url, { schema: part })] as [string, () => TaskStore]]
    : []),
  ...(etcd ? [['etcd', () => etcdStore(etcd.urls, { prefix: part })] as [string, () => TaskStore]] : []),
];

describe('retention', () => {
  it.each(stores)('deletes tasks that ended long ago, and no others (%s)', async (_, open) => {
    const store = open();
    onTestFinished(() => store.close());
    let later = 0;
    const clock = { now: () => Date.now() + later };
    const retention = { closedAfterMs: day, everyMs: 20 };
    const server = serve(agent, { store, clock, retention });
    const old = await send(server, 'end');
    const open_ = await send(server, 'ask');
    later = day / 2;
    const young = await send(server, 'end');
    later = day + 60_000;
    await eventually(() => expect(rpc(server, 'GetTask', { id: old })).rejects.toThrow());
    for (const id of [open_, young]) expect((await rpc(server, 'GetTask', { id })).id).toBe(id);
    expect((await rpc(server, 'ListTasks', {})).totalSize).toBe(2);
  });

  it.each(stores)('keeps tasks with a label or a skill longer or shorter (%s)', async (_, open) => {
    const store = open();
    onTestFinished(() => store.close());
    let later = 0;
    const clock = { now: () => Date.now() + later };
    const server = serve(
      async function* ({ text }) {
        yield { ...completed(), labels: text === '' ? [] : text.split(' ') };
      },
      {
        store,
        clock,
        // Earlier tests left tasks of theirs.
        name: 'kept',
        card: {
          name: 'Test',
          description: 'For tests',
          skills: [{ id: 'chat', name: 'Chat', description: 'Chats', tags: [] }],
          skillOf: ({ message: { metadata } }) => metadata?.skill as string | undefined,
        },
        retention: {
          closedAfterMs: 2 * day,
          everyMs: 20,
          rules: [
            { label: 'invoice', closedAfterMs: Number.POSITIVE_INFINITY },
            { skill: 'chat', label: 'person', closedAfterMs: day / 2 },
            { label: 'person', closedAfterMs: day },
          ],
        },
      },
    );
    const begin = async (text: string, skill?: string): Promise<string> => {
      const message = say(text || [{ data: {} }], skill ? { metadata: { skill } } : {});
      return (await rpc(server, 'SendMessage', { message })).task.id;
    };
    const ids = [
      await begin('plain'),
      await begin('person'),
      await begin('person', 'chat'),
      await begin('person invoice'),
    ];
    const left = async () => {
      const { tasks } = await rpc(server, 'ListTasks', {});
      return ids.map((id) => tasks.some((task: { id: string }) => task.id === id));
    };
    for (const [ms, kept] of [
      [day / 2 + 60_000, [true, true, false, true]],
      [day + 60_000, [true, false, false, true]],
      [2 * day + 60_000, [false, false, false, true]],
    ] as const) {
      later = ms;
      await eventually(async () => expect(await left()).toEqual(kept));
    }
    later = 5_000 * day;
    const [last] = await Promise.all([begin('plain'), begin('plain')]);
    later += 3 * day;
    await eventually(() => expect(rpc(server, 'GetTask', { id: last })).rejects.toThrow());
    expect(await left()).toEqual([false, false, false, true]);
  });

  it('refuses rules that cannot work', () => {
    const wrong = (rules: unknown) => () =>
      serve(agent, { retention: { closedAfterMs: 1, rules: rules as never } });
    expect(wrong({})).toThrow('`retention.rules` must be an array');
    expect(wrong([{ label: 'eu' }])).toThrow('`retention.rules[0].closedAfterMs` must be more than 0');
    expect(wrong([{ closedAfterMs: 1 }])).toThrow('`retention.rules[0]` needs `label` or `skill`');
    const lines: string[] = [];
    serve(agent, {
      retention: { closedAfterMs: 1, rules: [{ label: 'eu', closedAfterMs: 1, lable: 'us' } as never] },
      logger: (_, line) => void lines.push(line),
    });
    expect(lines.join()).toContain('retention.rules[0].lable');
  });

  it('is of one process at a time, and goes on when that one is gone', async () => {
    let time = 0;
    const { store, deletions, asked } = observed(memoryStore({ now: () => time }));
    const retention = { closedAfterMs: day };
    const servers = Array.from({ length: 4 }, () => serve(agent, { store, retention }));
    closedAfterTest(createWorker({ agent, store, retention }));
    await eventually(() => expect(asked.length).toBe(5));
    await Promise.all(asked);
    await eventually(() => expect(deletions.length).toBe(1));
    await Promise.all(servers.map((server) => server.close()));
    expect(deletions.length).toBe(1);
    time += 60_000;
    closedAfterTest(createWorker({ agent, store, retention }));
    await eventually(() => expect(deletions.length).toBe(2));
  });

  it('deletes in small steps', async () => {
    const { store, deletions } = observed(memoryStore());
    const server = serve(agent, { store });
    await Promise.all(Array.from({ length: 25 }, () => send(server, 'end')));
    const clock = { now: () => Date.now() + day };
    serve(agent, { store, name: 'another agent', clock, retention: { closedAfterMs: 1, batch: 10 } });
    await eventually(() => expect(deletions.length).toBe(3));
    expect(deletions.map(({ deleted }) => deleted)).toEqual([10, 10, 5]);
    expect(deletions.every(({ limit }) => limit === 10)).toBe(true);
  });

  it('stops when another process has the right to it', async () => {
    let time = 0;
    const { store, deletions } = observed(memoryStore());
    const logged: string[] = [];
    const stopped = Promise.withResolvers<void>();
    serve(agent, {
      store: {
        ...store,
        // There is always more to delete, and each time takes long.
        prune: async (options) => {
          time += 60_000;
          return (await store.prune(options)) + options.limit;
        },
        async putRecord(name, revision, ...rest) {
          if (name !== 'retention' || revision === 0) return store.putRecord(name, revision, ...rest);
          stopped.resolve();
          return undefined;
        },
      },
      clock: { monotonic: () => time },
      retention: { closedAfterMs: 1 },
      logger: (_, message) => logged.push(message),
    });
    await stopped.promise;
    await eventually(() => expect(logged).toContain('Old tasks were deleted'));
    expect(deletions.length).toBe(1);
  });

  it('ends with its server, in the middle of a long deletion too', async () => {
    const { store, deletions } = observed(memoryStore());
    const many = 1_000;
    const long: TaskStore = {
      ...store,
      prune: async (options) => (await store.prune(options)) + (deletions.length < many ? options.limit : 0),
    };
    let left = many;
    const clock = {
      sleep(ms: number, signal?: AbortSignal) {
        // No timer ends a loop whose waits are over at once.
        if (signal?.aborted && left-- < 0) throw new Error('It does not end');
        return sleep(ms, signal, 'idle');
      },
    };
    const server = serve(agent, { store: long, clock, retention: { closedAfterMs: 1, batch: 1 } });
    await eventually(() => expect(deletions.length).toBeGreaterThan(1));
    await server.close();
    expect(deletions.length).toBeLessThan(many);
  });

  it('goes on after the store failed', async () => {
    const { store, deletions } = observed(memoryStore());
    const logged: string[] = [];
    let failures = 3;
    const failing: TaskStore = {
      ...store,
      async prune(options) {
        if (failures-- > 0) throw new Error('Not now');
        return store.prune(options);
      },
    };
    const logger = (_: string, message: string) => void logged.push(message);
    serve(agent, { store: failing, retention: { closedAfterMs: 1, everyMs: 5 }, logger });
    await eventually(() => expect(deletions.length).toBeGreaterThan(0));
    expect(logged.filter((message) => message === 'Could not delete old tasks').length).toBe(3);
  });

  it.each([
    ['retention.closedAfterMs', { closedAfterMs: 0 }],
    ['retention.everyMs', { closedAfterMs: 1, everyMs: -1 }],
    ['retention.batch', { closedAfterMs: 1, batch: Number.NaN }],
  ])('refuses a wrong %s', (name, retention) => {
    expect(() => serve(agent, { retention })).toThrow(new TypeError(`\`${name}\` must be more than 0`));
  });
});
