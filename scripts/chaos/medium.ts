import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TaskStore } from '@batonjs/store';
import { etcdStore } from '@batonjs/store-etcd';
import { postgresStore } from '@batonjs/store-postgres';
import { redisStore } from '@batonjs/store-redis';
import { sqliteStore } from '@batonjs/store-sqlite';
import { canStartEtcd, startEtcd } from '../../test/support/etcd.ts';
import { canStartPostgres, startPostgres } from '../../test/support/postgres.ts';
import { canStart, startRedis } from '../../test/support/redis.ts';

/** A kind of store that several processes can share. */
interface Medium {
  /** A fresh place for one run. `url`: where a server of that kind is reached, if the caller has one. */
  prepare(url: string | undefined): Promise<Place>;
  open(location: string): TaskStore | Promise<TaskStore>;
}

/** Where the tasks of one run are kept. */
export interface Place {
  readonly location: string;
  /** Kills the store's own server, if it has one and it is ours, and starts it again after so many milliseconds. */
  readonly crash?: (downMs: number) => Promise<void>;
  remove(): Promise<void>;
}

async function file(): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), 'baton-chaos-'));
  return {
    location: join(folder, 'tasks.db'),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** A Redis of our own that can be killed; in one that was there already, a prefix of our own that stays. */
async function redis(url: string | undefined): Promise<Place> {
  const prefix = `chaos-${randomUUID()}`;
  if (url) return { location: JSON.stringify({ url, prefix }), remove: async () => {} };
  if (!(await canStart())) throw new Error('There is no Redis to put to the proof');
  const server = await startRedis({ appendfsync: 'always' });
  return {
    location: JSON.stringify({ url: server.url, prefix }),
    async crash(downMs) {
      await server.kill();
      await new Promise((resolve) => setTimeout(resolve, downMs));
      await server.restart();
    },
    remove: () => server.stop(),
  };
}

/** A PostgreSQL of our own that can be killed; in one that was there already, a schema of our own that stays. */
async function postgres(url: string | undefined): Promise<Place> {
  const schema = `chaos-${randomUUID()}`;
  if (url) return { location: JSON.stringify({ url, schema }), remove: async () => {} };
  if (!(await canStartPostgres())) throw new Error('There is no PostgreSQL to put to the proof');
  const server = await startPostgres();
  return {
    location: JSON.stringify({ url: server.url, schema }),
    async crash(downMs) {
      await server.kill();
      await new Promise((resolve) => setTimeout(resolve, downMs));
      await server.restart();
    },
    remove: () => server.stop(),
  };
}

/** A cluster of our own whose members are killed, one at a time; in one that was there already, keys of our own that stay. */
async function etcd(url: string | undefined): Promise<Place> {
  const prefix = `chaos-${randomUUID()}`;
  if (url) return { location: JSON.stringify({ urls: [url], prefix }), remove: async () => {} };
  if (!(await canStartEtcd())) throw new Error('There is no etcd to put to the proof');
  const cluster = await startEtcd();
  let crashes = 0;
  return {
    location: JSON.stringify({ urls: cluster.urls, prefix }),
    async crash(downMs) {
      // The leader every other time.
      const leader = await cluster.leader();
      const others = cluster.members.filter((member) => member !== leader);
      const member = crashes++ % 2 === 0 ? leader : others[crashes % others.length]!;
      await member.kill();
      await new Promise((resolve) => setTimeout(resolve, downMs));
      member.start();
      // Two that are gone would be most of them.
      await cluster.healthy();
    },
    remove: () => cluster.stop(),
  };
}

function openEtcd(location: string): TaskStore {
  const { urls, prefix } = JSON.parse(location);
  return etcdStore(urls, { prefix });
}

function openPostgres(location: string): TaskStore {
  const { url, schema } = JSON.parse(location);
  return postgresStore(url, { schema });
}

/** The stores that can be put to the proof; another one is a row. */
export const media = {
  sqlite: { prepare: file, open: (location) => sqliteStore(location) },
  /** What survives a killed process, without what survives a power failure: several times as many tasks in the same time. */
  'sqlite-normal': { prepare: file, open: (location) => sqliteStore(location, { durability: 'normal' }) },
  etcd: { prepare: etcd, open: openEtcd },
  postgres: { prepare: postgres, open: openPostgres },
  redis: { prepare: redis, open: (location) => redisStore(JSON.parse(location)) },
} satisfies Record<string, Medium>;

export type MediumName = keyof typeof media;

/** The store of this name, if there is one. */
export const mediumNamed = (name: string): MediumName | undefined =>
  (Object.keys(media) as MediumName[]).find((known) => known === name);

/** What the store under test is called on the command line. */
export const mediumOf = (name: MediumName): Medium => media[name];
