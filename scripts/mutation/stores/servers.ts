import { startEtcd } from '../../../test/support/etcd.ts';
import { startPostgres } from '../../../test/support/postgres.ts';
import { startRedis } from '../../../test/support/redis.ts';
import type { Part } from '../part.ts';

/** Where the tests of a part find its server: they run in processes that Stryker starts. */
const variables = { redis: 'REDIS_URL', postgres: 'POSTGRES_URL', etcd: 'ETCD_URL' };

/** Starts the server of a part. Resolves to what stops it. */
export async function startServer(name: NonNullable<Part['server']>): Promise<{ stop(): Promise<void> }> {
  const [url, server] = await start(name);
  process.env[variables[name]] = url;
  return server;
}

async function start(name: NonNullable<Part['server']>): Promise<[string, { stop(): Promise<void> }]> {
  switch (name) {
    case 'redis': {
      const server = await startRedis({ appendfsync: 'no' });
      return [server.url, server];
    }
    case 'postgres': {
      const server = await startPostgres(['-c', 'fsync=off']);
      return [server.url, server];
    }
    case 'etcd': {
      const cluster = await startEtcd({ inMemory: true });
      return [cluster.urls[0]!, cluster];
    }
  }
}
