import type { TaskStore } from '@batonjs/store';
import { etcdStore } from '@batonjs/store-etcd';
import { postgresStore } from '@batonjs/store-postgres';
import { redisStore } from '@batonjs/store-redis';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { closedAfterTest } from '../kit/closed-after-test.ts';
import { serve } from '../kit/serve.ts';
import { canStartEtcd, startEtcd } from '../support/etcd.ts';
import { canStartPostgres, startPostgres } from '../support/postgres.ts';
import { canStart, startRedis } from '../support/redis.ts';

interface Database {
  readonly store: TaskStore;
  kill(): Promise<void>;
  restart(): Promise<void>;
}

const password = 'canary-of-the-store';
const stores: Record<string, { isHere: boolean; start: () => Promise<Database> }> = {
  PostgreSQL: {
    isHere: await canStartPostgres(),
    async start() {
      const server = await startPostgres();
      onTestFinished(() => server.stop());
      const url = server.url.replace('postgres@', `postgres:${password}@`);
      return { store: closedAfterTest(postgresStore(url)), kill: server.kill, restart: server.restart };
    },
  },
  Redis: {
    isHere: await canStart(),
    async start() {
      const server = await startRedis({ args: ['--requirepass', password] });
      onTestFinished(() => server.stop());
      const url = server.url.replace('//', `//:${password}@`);
      return { store: closedAfterTest(redisStore(url)), kill: server.kill, restart: server.restart };
    },
  },
  etcd: {
    isHere: await canStartEtcd(),
    async start() {
      const cluster = await startEtcd({ members: 1 });
      onTestFinished(() => cluster.stop());
      const [member] = cluster.members;
      return {
        store: closedAfterTest(etcdStore(cluster.urls)),
        kill: () => member!.kill(),
        async restart() {
          member!.start();
          await cluster.healthy();
        },
      };
    },
  },
};

const slowly = { timeout: 60_000, interval: 20 };

describe.each(Object.entries(stores))('%s', (_, { isHere, start }) => {
  it.skipIf(!isHere)(
    'that is away and comes back is two lines in the log of an idle server',
    { timeout: 120_000 },
    async () => {
      const { store, kill, restart } = await start();
      const lines: string[] = [];
      const calls = { failed: 0, answeredSince: 0 };
      let ahead = 0;
      const server = serve(async function* () {}, {
        store: counted(store, calls),
        retention: { closedAfterMs: 1_000_000, everyMs: 100 },
        timeouts: {
          leaseMs: 300,
          sweepMs: 100,
          // etcd waits for its members as long as it is given.
          storeMs: 1_000,
        },
        clock: { now: () => Date.now() + ahead, monotonic: () => performance.now() + ahead },
        logger: (level, message, details) => {
          if (level === 'info' || message === 'The wall clock was set') return;
          lines.push([level, message, JSON.stringify(details)].join(' '));
        },
      });
      await vi.waitFor(async () => expect(await server.ready()).toBe(true), slowly);
      calls.failed = 0;
      await kill();
      await vi.waitFor(() => expect(calls.failed).toBeGreaterThan(15), slowly);
      await vi.waitFor(async () => expect(await server.ready()).toBe(false), slowly);
      expect(lines).toEqual([expect.stringMatching(/^error The store fails: \S+ .+"reason":"failing"\}$/)]);
      await restart();
      // More than a minute may pass before a store is connected again.
      const others = () => lines.slice(1).filter((line) => !line.startsWith('error The store still fails: '));
      // Some calls still fail while a store comes back.
      await vi.waitFor(() => expect(calls.answeredSince).toBeGreaterThan(30), slowly);
      ahead += 5_000;
      await vi.waitFor(() => expect(others()).toHaveLength(1), slowly);
      expect(others()).toEqual([expect.stringMatching(/^warn The store works again .*"failedCalls":\d+/)]);
      expect(lines.join()).not.toContain(password);
      expect(await server.ready()).toBe(true);
    },
  );
});

/** A store that counts its calls that fail, and those that are answered since then. */
const counted = (store: TaskStore, calls: { failed: number; answeredSince: number }): TaskStore =>
  new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return async (...args: unknown[]) => {
        try {
          const answer: unknown = await member.apply(target, args);
          calls.answeredSince++;
          return answer;
        } catch (error) {
          calls.failed++;
          calls.answeredSince = 0;
          throw error;
        }
      };
    },
  });
