import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { PushConfigStore, TaskStore } from '@batonjs/store';
import { memoryStore } from '@batonjs/store-memory';
import { redisStore } from '@batonjs/store-redis';
import { sqliteStore } from '@batonjs/store-sqlite';
import { onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../../test/kit/temporary-folder.ts';
import { redisForTests } from '../../../../test/support/redis.ts';

const redis = await redisForTests();

export type Store = TaskStore & PushConfigStore;

/** Ways to keep tasks that two servers share. Each opens the same tasks as often as it is called. */
export const stores: readonly (readonly [name: string, create: () => () => Store])[] = [
  [
    'memory',
    () => {
      const store = memoryStore();
      return () => store;
    },
  ],
  [
    'SQLite',
    () => {
      const folder = temporaryFolder();
      const opened: Store[] = [];
      onTestFinished(async () => {
        await Promise.all(opened.map((store) => store.close()));
      });
      return () => {
        const store = sqliteStore(join(folder, 'tasks.db'));
        opened.push(store);
        return store;
      };
    },
  ],
  ...(redis ? [['Redis', () => onRedis(redis.url)] as const] : []),
];

function onRedis(url: string): () => Store {
  const options = { url, prefix: `push-${randomUUID()}`, shards: 4 };
  const opened: Store[] = [];
  onTestFinished(async () => {
    await Promise.all(opened.map((store) => store.close()));
  });
  return () => {
    const store = redisStore(options);
    opened.push(store);
    return store;
  };
}
