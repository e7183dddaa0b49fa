import { randomUUID } from 'node:crypto';
import { StoreError } from '@batonjs/store';
import { type Layouts, stepsFrom } from '@batonjs/store/adapter';
import { listOf, type RedisDriver } from '../connection/driver.ts';
import { infoOf } from '../connection/servers.ts';

/**
 * The layouts of the data, see `Layouts`. A test compares them with stored data. The first release that keeps data for
 * later ones began with 900.
 */
export const layouts: Layouts<{ readonly driver: RedisDriver; readonly prefix: string }> = {
  current: 900,
  steps: [],
};
const oldest = [6, 2] as const;
const shardsOfCluster = 16;
const mostShards = 1_024;

export interface StartOptions {
  readonly prefix: string;
  readonly shards?: number;
  readonly allowEviction: boolean;
}

/**
 * Checks that this Redis can be used, and resolves to the number of shards of its tasks. Rejects with code
 * `UNUSABLE` if it is too old, may evict tasks, or holds them in another number of shards. `known`: how many
 * shards this process has used so far; a Redis that was emptied meanwhile keeps that number.
 */
export async function start(
  driver: RedisDriver,
  infos: readonly string[],
  options: StartOptions,
  known?: number,
): Promise<number> {
  const { prefix, shards } = options;
  const unusable = (why: string) => new StoreError('UNUSABLE', `Redis at ${driver.name} ${why}`);
  for (const info of infos) {
    const version = infoOf(info, 'redis_version') ?? '0';
    if (isOlder(version, oldest))
      throw unusable(`is of version ${version}; ${oldest.join('.')} or newer is needed`);
    mustNotEvict(info, driver.name, options);
  }
  const isCluster = infos.some((info) => infoOf(info, 'cluster_enabled') === '1');
  const wanted = shards ?? known ?? (isCluster ? shardsOfCluster : 1);
  if (!Number.isInteger(wanted) || wanted < 1 || wanted > mostShards) {
    throw unusable(`cannot keep tasks in ${wanted} shards: 1 to ${mostShards} are possible`);
  }
  const key = layoutKey(prefix);
  const read = () => driver.command(key, ['HMGET', key, 'shards', 'layout', 'id']);
  let kept = listOf(await read());
  // Written only if missing: a Redis whose memory is full refuses even a write that changes nothing.
  if (kept.includes(null)) {
    await driver.command(key, ['HSETNX', key, 'shards', String(wanted)]);
    await driver.command(key, ['HSETNX', key, 'layout', String(layouts.current)]);
    await driver.command(key, ['HSETNX', key, 'id', randomUUID()]);
    kept = listOf(await read());
  }
  for (const step of stepsOf(kept[1], driver, prefix)) {
    await step.run({ driver, prefix });
    // Another process may have brought the data further.
    await driver.command(key, ['EVAL', raiseLayout, '1', key, String(step.to)]);
  }
  if (shards !== undefined && Number(kept[0]) !== shards) {
    throw unusable(
      `keeps the tasks of "${prefix}" in ${kept[0]} shards, not in ${shards}; the number cannot be changed`,
    );
  }
  return Number(kept[0]);
}

/** The steps that the data of a prefix need. Throws `UNUSABLE` for a layout that this release does not read. */
export const stepsOf = (layout: unknown, driver: RedisDriver, prefix: string): typeof layouts.steps =>
  stepsFrom(layout, layouts, {
    data: `"${prefix}" in Redis at ${driver.name}`,
    instead: 'another prefix',
  });

const raiseLayout = `
  if tonumber(redis.call('HGET', KEYS[1], 'layout')) < tonumber(ARGV[1]) then
    redis.call('HSET', KEYS[1], 'layout', ARGV[1])
  end`;

/** The key of the hash with the number of shards, the version of the layout and the id of the data. */
export const layoutKey = (prefix: string): string => `${prefix}:layout`;

/** Throws `UNUSABLE` if Redis may evict tasks, according to the memory section of its `INFO`. */
export function mustNotEvict(info: string, name: string, { allowEviction }: StartOptions): void {
  const policy = infoOf(info, 'maxmemory_policy') ?? 'noeviction';
  if (!policy.startsWith('allkeys-') || allowEviction) return;
  const message = `Redis at ${name} may evict tasks: maxmemory-policy is ${policy}, and should be noeviction`;
  throw new StoreError('UNUSABLE', message, { trouble: 'may-evict' });
}

/** Whether a server runs scripts that begin with flags, according to its `INFO`: Redis 7.0 and Valkey do. */
export const knowsFlags = (info: string): boolean => !isOlder(infoOf(info, 'redis_version') ?? '0', [7, 0]);

function isOlder(version: string, [wantedMajor, wantedMinor]: readonly [number, number]): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major < wantedMajor || (major === wantedMajor && minor < wantedMinor);
}
