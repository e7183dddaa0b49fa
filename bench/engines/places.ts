import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { freePort } from '../../test/kit/processes.ts';
import { startEtcd } from '../../test/support/etcd.ts';
import { canStartPostgres, startPostgres } from '../../test/support/postgres.ts';
import { startRedis } from '../../test/support/redis.ts';
import type { EngineOptions } from '../contenders/engines/engine.ts';
import { inFolder } from '../harness/contender.ts';

/** Where an engine keeps its tasks. */
export interface Place {
  readonly options: EngineOptions;
  /** The process of the database, or of the engine's server. */
  readonly pid?: number;
}

type Use = (place: Place) => Promise<void>;

export type PlaceName = EngineOptions['store'];

/**
 * Each calls with a place of its own and takes it away afterwards: one server, on a disk, which acknowledges a commit
 * once the disk has it. `memory` alone has nothing of all that.
 */
export const enginePlaces: Readonly<
  Record<PlaceName, (engines: string | undefined, use: Use) => Promise<void>>
> = {
  memory: (engines, use) => use({ options: { store: 'memory', engines } }),
  sqlite: (engines, use) => inFolder((folder) => use({ options: { store: 'sqlite', folder, engines } })),
  postgres: (engines, use) =>
    withPostgres([], ({ url, pid }) => use({ options: { store: 'postgres', postgres: url, engines }, pid })),
  async redis(engines, use) {
    const redis = await startRedis({ appendfsync: 'always', folder: tmpdir() });
    await use({ options: { store: 'redis', redis: redis.url, engines }, pid: redis.pid }).finally(redis.stop);
  },
  async etcd(engines, use) {
    const etcd = await startEtcd({ members: 1 });
    const options = { store: 'etcd', etcd: etcd.urls, engines } as const;
    await use({ options, pid: etcd.members[0]!.pid }).finally(etcd.stop);
  },
  restate: (engines, use) => inFolder((folder) => withRestate(engines!, folder, use)),
};

async function withPostgres<T>(
  args: readonly string[],
  use: (server: { url: string; pid: number }) => Promise<T>,
): Promise<T> {
  if (!(await canStartPostgres())) throw new Error('There is no PostgreSQL');
  const postgres = await startPostgres(args, { folder: tmpdir() });
  return use(postgres).finally(postgres.stop);
}

async function withRestate(engines: string, folder: string, use: Use): Promise<void> {
  const wanted = createRequire(join(engines, 'node_modules/@restatedev/restate-server/package.json'));
  const { platform, arch } = process;
  const program = wanted.resolve(`@restatedev/restate-server-${platform}-${arch}/bin/restate-server`);
  const [ingress, admin, own, port] = [
    await freePort(),
    await freePort(),
    await freePort(),
    await freePort(),
  ];
  const server = spawn(program, [], {
    stdio: 'ignore',
    env: {
      ...process.env,
      RESTATE_BASE_DIR: folder,
      RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingress}`,
      RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${admin}`,
      RESTATE_BIND_ADDRESS: `127.0.0.1:${own}`,
      RESTATE_LISTEN_MODE: 'tcp',
      RESTATE_DISABLE_TELEMETRY: 'true',
    },
  });
  const url = (of: number) => `http://127.0.0.1:${of}`;
  const kill = () => server.kill('SIGKILL');
  process.once('exit', kill);
  const ended = once(server, 'exit');
  try {
    const isReady = () =>
      fetch(`${url(admin)}/health`).then(
        ({ ok }) => ok,
        () => false,
      );
    for (let tries = 0; !(await isReady()); tries++) {
      if (tries > 300 || server.exitCode !== null) throw new Error('Restate did not start');
      await pause(100);
    }
    const options = { store: 'restate', ingress: url(ingress), admin: url(admin), port, engines } as const;
    await use({ options, pid: server.pid });
  } finally {
    kill();
    await ended;
    process.off('exit', kill);
  }
}

/** Calls with a PostgreSQL that counts. The function that it gets says the statements and the bytes of its log so far. */
export const withCountingPostgres = (
  engines: string | undefined,
  use: (options: EngineOptions, count: () => Promise<Counted>) => Promise<void>,
): Promise<void> =>
  withPostgres(['-c', 'shared_preload_libraries=pg_stat_statements'], async ({ url }) => {
    const client = new pg.Client(url);
    await client.connect();
    try {
      await client.query('CREATE EXTENSION pg_stat_statements');
      await use({ store: 'postgres', postgres: url, engines }, async () => {
        const { rows } = await client.query(counting);
        const { statements, wal } = rows[0] as Record<keyof Counted, string>;
        return { statements: Number(statements), wal: Number(wal) };
      });
    } finally {
      await client.end();
    }
  });

interface Counted {
  readonly statements: number;
  readonly wal: number;
}

const counting = `SELECT coalesce(sum(calls) FILTER (WHERE query NOT LIKE '%pg_stat_statements%'), 0) AS statements,
  pg_current_wal_insert_lsn() - '0/0'::pg_lsn AS wal FROM pg_stat_statements`;
