import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startEtcd } from '../../test/support/etcd.ts';
import { canStartPostgres, startPostgres } from '../../test/support/postgres.ts';
import { startRedis } from '../../test/support/redis.ts';
import type { BareNotify } from '../contenders/bare/bare-notify.ts';
import type { BareSse } from '../contenders/bare/bare-sse.ts';
import type { BareStreams } from '../contenders/bare/bare-streams.ts';
import type { BareWs } from '../contenders/bare/bare-ws.ts';
import type { GrpcFloor } from '../contenders/bare/grpc-floor.ts';
import type { Floor } from '../contenders/bare/node-http.ts';
import type { Baton, BatonOptions } from '../contenders/baton/baton.ts';
import type { BatonStore } from '../contenders/baton/baton-store.ts';
import type { GrpcBaton } from '../contenders/baton/grpc-baton.ts';
import type { TaskGatewayContender } from '../contenders/baton/task-gateway.ts';
import type { GrpcOfficialSdk } from '../contenders/official-sdk/grpc-official-sdk.ts';
import type { OfficialSdk, OfficialSdkOptions } from '../contenders/official-sdk/official-sdk.ts';
import type { CommitTexts } from '../contenders/sample-commits.ts';
import type { StoreChoice } from '../contenders/stores.ts';
import type { Sample } from '../contenders/template.ts';
import type { GrpcSamples } from '../load/grpc.ts';
import type { Load } from '../load/load.ts';
import { cpuOfTree } from './process-cpu.ts';
import type { Vitals } from './vitals.ts';
import { Worker } from './worker.ts';

export const startLoad = () => Worker.start<Load>('load/load.ts');

export const startBaton = (options: BatonOptions) =>
  Worker.start<Baton>('contenders/baton/baton.ts', options, ['--expose-gc']);

export const startBatonWorker = (options: StoreChoice) =>
  Worker.start<Vitals>('contenders/baton/worker.ts', options);

export const startBareNotify = (options: StoreChoice & { role: 'ping' | 'pong' }) =>
  Worker.start<BareNotify>('contenders/bare/bare-notify.ts', options);

export const startBatonStore = (options: StoreChoice) =>
  Worker.start<BatonStore>('contenders/baton/baton-store.ts', options);

/** The commits of a send as text, for floors to repeat. */
export async function commitsOfBaton(): Promise<CommitTexts> {
  const store = await startBatonStore({ store: 'memory' });
  const commits = await store.ask('texts');
  await store.stop();
  return commits;
}

export const startOfficialSdk = (options: OfficialSdkOptions) =>
  Worker.start<OfficialSdk>('contenders/official-sdk/official-sdk.ts', options, ['--expose-gc']);

export const startFloor = (name: 'express' | 'node-http', sample: Sample) =>
  Worker.start<Floor>(`contenders/bare/${name}.ts`, sample);

export const startBareSse = () => Worker.start<BareSse>('contenders/bare/bare-sse.ts', {}, ['--expose-gc']);

export const startBareStreams = (samples: readonly Sample[]) =>
  Worker.start<BareStreams>('contenders/bare/bare-streams.ts', samples);

export const startTaskGateway = () =>
  Worker.start<TaskGatewayContender>('contenders/baton/task-gateway.ts', {}, ['--expose-gc']);

export const startBareWs = () => Worker.start<BareWs>('contenders/bare/bare-ws.ts', {}, ['--expose-gc']);
export const startGrpcBaton = () => Worker.start<GrpcBaton>('contenders/baton/grpc-baton.ts');

export const startGrpcOfficialSdk = () =>
  Worker.start<GrpcOfficialSdk>('contenders/official-sdk/grpc-official-sdk.ts');

export const startGrpcFloor = (samples: GrpcSamples) =>
  Worker.start<GrpcFloor>('contenders/bare/grpc-floor.ts', samples);

/** Calls with a new folder, and deletes it afterwards. */
export async function inFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'baton-bench-'));
  try {
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

export type Redis = Awaited<ReturnType<typeof startRedis>>;

/**
 * Calls with a Redis of its own. It appends to its file and leaves flushing to the system: a disk would be what is
 * measured otherwise.
 */
export async function withRedis<T>(use: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = await startRedis({ appendfsync: 'no' });
  try {
    return await use(redis);
  } finally {
    await redis.stop();
  }
}

/** Calls with the URLs and the process ids of a cluster of three members that keep their data in memory. */
export async function withEtcd<T>(
  use: (urls: readonly string[], pids: readonly number[]) => Promise<T>,
): Promise<T> {
  const cluster = await startEtcd({ inMemory: true });
  try {
    const pids = cluster.members.map(({ pid }) => pid);
    return await use(cluster.urls, pids);
  } finally {
    await cluster.stop();
  }
}

const migrations = fileURLToPath(
  new URL('../../node_modules/@a2a-js/sdk/dist/cli/a2a_db.js', import.meta.url),
);

/** A PostgreSQL, and the CPU time that its processes have used so far, in microseconds. */
export interface Postgres {
  readonly url: string;
  cpu(): number;
}

/** Calls with a PostgreSQL of its own, which flushes every commit to the disk. */
export async function withPostgres<T>(use: (postgres: Postgres) => Promise<T>): Promise<T> {
  if (!(await canStartPostgres())) throw new Error('There is no PostgreSQL');
  const postgres = await startPostgres([], { folder: tmpdir() });
  try {
    return await use({ url: postgres.url, cpu: () => cpuOfTree(postgres.pid) ?? 0 });
  } finally {
    await postgres.stop();
  }
}

/** Makes the tables of the official SDK's store, with its own program. */
export function migrateOfficialSdk(url: string): void {
  execFileSync(process.execPath, [migrations, 'upgrade', '--url', url, '--store', 'tasks'], {
    stdio: 'ignore',
  });
}
