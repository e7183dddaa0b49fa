import { join } from 'node:path';
import type { AgentServerOptions } from '@batonjs/server';
import { etcdStore } from '@batonjs/store-etcd';
import { memoryStore } from '@batonjs/store-memory';
import { postgresStore } from '@batonjs/store-postgres';
import { redisStore } from '@batonjs/store-redis';
import { sqliteStore } from '@batonjs/store-sqlite';

/** Where a contender keeps its tasks. SQLite always with `synchronous=FULL`. */
export type StoreChoice =
  | { readonly store: 'memory' }
  | { readonly store: 'sqlite'; readonly folder: string }
  | { readonly store: 'redis'; readonly redis: string }
  | { readonly store: 'postgres'; readonly postgres: string }
  | { readonly store: 'etcd'; readonly etcd: readonly string[] };

export type TaskStore = AgentServerOptions['store'];

/** The store; `onGroup` gets how many commits each transaction of SQLite held. */
export function storeOf(choice: StoreChoice, onGroup?: (size: number) => void): TaskStore {
  if (choice.store === 'etcd') return etcdStore(choice.etcd, { onGroup });
  if (choice.store === 'postgres') return postgresStore(choice.postgres, { onGroup });
  if (choice.store === 'redis') return redisStore(choice.redis);
  if (choice.store === 'sqlite') return sqliteStore(join(choice.folder, 'tasks.db'), { onGroup });
  return memoryStore();
}
