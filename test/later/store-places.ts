import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { repetitions } from '../kit/repetitions.ts';
import { temporaryFolder } from '../kit/temporary-folder.ts';
import { etcdForTests } from '../support/etcd.ts';
import { postgresForTests } from '../support/postgres.ts';
import { redisForTests } from '../support/redis.ts';
import type { StoreAddress } from './open-store.ts';

/** The databases that processes of a test share: SQLite, and in `test:long` all of them. */
export interface StorePlaces {
  readonly kinds: readonly StoreAddress['kind'][];
  /** An empty store. */
  address(kind: StoreAddress['kind']): StoreAddress;
}

export async function storePlaces(): Promise<StorePlaces> {
  const isLong = repetitions(0, 1) === 1;
  const [redis, postgres, etcd] = isLong
    ? await Promise.all([redisForTests(), postgresForTests(), etcdForTests()])
    : [];
  const urls = { redis: redis?.url, postgres: postgres?.url, etcd: etcd?.urls[0] };
  return {
    kinds: ['sqlite', ...(['redis', 'postgres', 'etcd'] as const).filter((kind) => urls[kind] !== undefined)],
    address: (kind) => ({
      kind,
      at: kind === 'sqlite' ? join(temporaryFolder(), 'tasks.db') : (urls[kind] ?? ''),
      part: `part-${randomUUID()}`,
    }),
  };
}
