import { type PushConfigStore, StoreError, type TaskStore } from '@batonjs/store';
import { completeOptions, createStore } from '@batonjs/store/adapter';
import type { RedisDriver } from './connection/driver.ts';
import { nodeRedis } from './connection/node-redis.ts';
import type { ClientOptions } from './connection/servers.ts';
import { Database } from './database/database.ts';
import { redisRows } from './redis-rows.ts';

const redisOptions = {
  /**
   * `redis://user:password@host:6379/0`, or `rediss:` for TLS. Of a Cluster, any node; several, if some may be down.
   * Default `redis://127.0.0.1:6379`.
   */
  url: 'redis://127.0.0.1:6379' as string | readonly string[],
  /** More options of node-redis for each connection: certificates, a credentials provider. */
  client: undefined as ClientOptions | undefined,
  /** Another Redis client than node-redis, instead of `url` and `client`. It is closed with the store. */
  driver: undefined as RedisDriver | undefined,
  /** What all keys begin with, without braces: stores of different prefixes share a Redis. Default `baton`. */
  prefix: 'baton',
  /**
   * Into how many parts tasks are divided, 1 to 1,024. Each is served by one node of a Cluster, and each costs lists
   * and claims a command. Stored when tasks are first kept and never changed. Default 16 on a Cluster, otherwise 1.
   */
  shards: undefined as number | undefined,
  /**
   * How many connections a process has: with 1, notifications come over that of the commands. A Cluster has one to each
   * node, and one more. Default 2: nothing waits behind a large answer.
   */
  connections: 2 as 1 | 2,
  /** How long Redis may take to answer before a call rejects with `UNAVAILABLE`, in milliseconds. Default 4,000. */
  timeoutMs: 4_000,
  /** Use a Redis that may evict any key when its memory is full, and lose tasks by it. Default false. */
  allowEviction: false,
};

export type RedisStoreOptions = {
  readonly [Name in keyof typeof redisOptions]?: (typeof redisOptions)[Name] | undefined;
};

/**
 * Tasks in Redis 6.2 or newer, in Valkey, or in Redis Cluster, for any number of processes on any number of machines.
 * It connects by itself, and reconnects; while Redis cannot be reached, calls reject with code `UNAVAILABLE` in
 * bounded time. A Redis that is too old, may evict tasks, or keeps them in another number of shards makes calls reject
 * with code `UNUSABLE`. What a commit survives is a setting of Redis: see `appendfsync` in the README.
 */
export function redisStore(redis: string | RedisStoreOptions = {}): TaskStore & PushConfigStore {
  const given = typeof redis === 'string' ? { url: redis } : redis;
  const options = completeOptions(redisOptions, given);
  const { url, client, prefix, shards, connections, timeoutMs, allowEviction } = options;
  if (/[{}]/.test(prefix)) throw new StoreError('UNUSABLE', 'The prefix of keys cannot contain braces');
  const urls = typeof url === 'string' ? [url] : url;
  const driver = options.driver ?? nodeRedis({ urls, client, connections, timeoutMs });
  const database = new Database(driver, { prefix, shards, allowEviction });
  return createStore(`Redis at ${driver.name}`, redisRows(database, driver));
}
