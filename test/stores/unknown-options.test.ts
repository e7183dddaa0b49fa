import { StoreError } from '@batonjs/store';
import { etcdStore } from '@batonjs/store-etcd';
import { memoryStore } from '@batonjs/store-memory';
import { postgresStore } from '@batonjs/store-postgres';
import { redisStore } from '@batonjs/store-redis';
import { sqliteStore } from '@batonjs/store-sqlite';
import { durableObjectStore } from '@batonjs/store-sqlite/durable-object';
import { describe, expect, it } from 'vitest';

/** Opens each store with these options, which TypeScript would not accept. None gets as far as its database. */
const stores: Readonly<Record<string, (options: object) => unknown>> = {
  memoryStore: (options) => memoryStore(options),
  sqliteStore: (options) => sqliteStore(':memory:', options),
  durableObjectStore: (options) => durableObjectStore({} as never, options),
  redisStore: (options) => redisStore({ url: 'redis://127.0.0.1:1', ...options }),
  postgresStore: (options) => postgresStore('postgres://127.0.0.1:1/tasks', options),
  etcdStore: (options) => etcdStore(['http://127.0.0.1:1'], options),
};

describe.each(Object.entries(stores))('%s', (name, open) => {
  it('refuses an option that it does not have, and leaves nothing open', () => {
    expect(() => open({ colour: 'red' })).toThrow(
      new StoreError('UNUSABLE', 'There is no option `colour`: remove it'),
    );
  });

  const near: Readonly<Record<string, readonly [string, string]>> = {
    memoryStore: ['closedByte', 'closedBytes'],
    sqliteStore: ['durabilty', 'durability'],
    durableObjectStore: ['recoverAfter', 'recoverAfterMs'],
    redisStore: ['prefx', 'prefix'],
    postgresStore: ['schemas', 'schema'],
    etcdStore: ['timeoutMS', 'timeoutMs'],
  };

  it('names the option that may be meant', () => {
    const [given, meant] = near[name]!;
    expect(() => open({ [given]: 1 })).toThrow(`There is no option \`${given}\`: did you mean \`${meant}\`?`);
  });
});
