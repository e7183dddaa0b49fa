import type { TaskStore } from '@batonjs/store';
import { etcdStore } from '@batonjs/store-etcd';
import { postgresStore } from '@batonjs/store-postgres';
import { redisStore } from '@batonjs/store-redis';
import { sqliteStore } from '@batonjs/store-sqlite';

/** A store that another process may open as well. */
export interface StoreAddress {
  readonly kind: 'sqlite' | 'redis' | 'postgres' | 'etcd';
  /** A path or a URL. */
  readonly at: string;
  /** The part of the database that is its own. */
  readonly part: string;
}

export function openStore({ kind, at, part }: StoreAddress): TaskStore {
  if (kind === 'sqlite') return sqliteStore(at);
  if (kind === 'etcd') return etcdStore([at], { prefix: part });
  return kind === 'redis'
    ? redisStore({ url: at, prefix: part })
    : postgresStore(at, { schema: part, connections: 3 });
}
