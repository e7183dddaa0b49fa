import type { TaskStore } from '@batonjs/store';
import { etcdStore } from '@batonjs/store-etcd';
import { postgresStore } from '@batonjs/store-postgres';
import { redisStore } from '@batonjs/store-redis';
import { sqliteStore } from '@batonjs/store-sqlite';

/** A store that another process may open as well. */
export interface StoreAddress {
  readonly kind: 'sqlite' | 'redis' | 'postgres' | 'etcd';
  /** A path, a URL, or those of etcd's members with commas between. */
  readonly at: string;
  /** The part of the database that is its own. */
  readonly part: string;
}

export function openStore({ kind, at, part }: StoreAddress): TaskStore {
  if (kind === 'sqlite') return sqliteStore(at);
  if (kind === 'etcd') return etcdStore(at.split(','), { prefix: part });
  return kind === 'redis'
    ? redisStore({ url: at, prefix: part })
    : postgresStore(at, { schema: part, connections: 3 });
}
