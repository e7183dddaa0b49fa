import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { TaskStore } from '@batonjs/store';
import { runCheck, taskStoreChecks } from '@batonjs/store-conformance/checks';
import { etcdStore } from '@batonjs/store-etcd';
import { postgresStore } from '@batonjs/store-postgres';
import { redisStore } from '@batonjs/store-redis';
import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { emptied } from '../../packages/store-postgres/test/empty.ts';
import { repetitions } from '../kit/repetitions.ts';
import { root } from '../repository/source-files.ts';
import { canRestoreEtcd, startEtcd } from '../support/etcd.ts';
import { postgresForTests } from '../support/postgres.ts';
import { canStart, startRedis } from '../support/redis.ts';

/** The code in the README of a package that begins like this, as one line. */
function lineOf(name: string, beginning: string): string {
  const readme = readFileSync(join(root, 'packages', name, 'README.md'), 'utf8');
  const text = readme.replace(/```.*?```/gs, '');
  const codes = Array.from(text.matchAll(/`([^`]+)`/g), ([, code = '']) => code.replace(/\s+/g, ' '));
  const line = codes.find((code) => code.startsWith(beginning));
  if (line === undefined) throw new Error(`The README of ${name} has no \`${beginning} …\``);
  return line;
}

/** One check of each section does each thing that a store does, and all of them in `test:long`. */
const checks = repetitions(0, 1)
  ? taskStoreChecks
  : taskStoreChecks.filter(({ section }, index) => section !== taskStoreChecks[index - 1]?.section);

async function doesAll(open: () => TaskStore | Promise<TaskStore>, some = checks): Promise<void> {
  for (const check of some) await runCheck(check, async () => ({ store: await open() }), { runs: 1 });
}

const [hasRedis, postgres, hasEtcd] = await Promise.all([canStart(), postgresForTests(), canRestoreEtcd()]);

describe('The rights that a README names are enough', () => {
  it.skipIf(!hasRedis)('for Redis', async () => {
    const redis = await startRedis({ appendfsync: 'no' });
    onTestFinished(() => redis.stop());
    await redis.cli(...lineOf('store-redis', 'ACL SETUSER').split(' '));
    const url = redis.url.replace('://', '://agent:secret@');
    await doesAll(() => redisStore({ url, prefix: `baton:${randomUUID()}`, shards: 1 }));
  });

  it.skipIf(!hasRedis).each([
    ['the channels', '&baton:*', 'resetchannels'],
    ['a command', '+info', '-info'],
  ])('for Redis, which says so of a user without %s', async (_, right, without) => {
    const redis = await startRedis({ appendfsync: 'no' });
    onTestFinished(() => redis.stop());
    const line = lineOf('store-redis', 'ACL SETUSER').replace(right, without);
    await redis.cli(...line.split(' '));
    const store = redisStore({
      url: redis.url.replace('://', '://agent:secret@'),
      shards: 1,
      timeoutMs: 1_000,
    });
    onTestFinished(() => store.close());
    const using = async () => {
      await store.ping();
      await store.subscribe({ scope: 's', taskId: 't' }, () => {});
    };
    await expect(using()).rejects.toThrow(/^Redis at \S+ refuses this user: NOPERM/);
  });

  it.skipIf(!postgres)('for PostgreSQL', async () => {
    const [schema, agent] = [`rights_${process.pid}`, `agent_${process.pid}`];
    const admin = new pg.Pool({ connectionString: postgres!.url, max: 1 });
    onTestFinished(async () => {
      await admin.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE; DROP ROLE IF EXISTS ${agent}`);
      await admin.end();
    });
    const first = postgresStore(postgres!.url, { schema });
    await first.identity();
    await first.close();
    await admin.query(`CREATE ROLE ${agent} LOGIN PASSWORD 'secret'`);
    await admin.query(
      lineOf('store-postgres', 'GRANT')
        .replaceAll(/\bbaton\b/g, schema)
        .replaceAll(/\bagent\b/g, agent),
    );
    const url = new URL(postgres!.url);
    [url.username, url.password] = [agent, 'secret'];
    const open = () => postgresStore(url.href, { schema });
    await doesAll(
      async () => {
        await admin.query(emptied(schema).join(';'));
        return open();
      },
      checks.filter(({ title }) => !title.startsWith('takes no writes while it is frozen')),
    );
    const store = open();
    onTestFinished(() => store.close());
    await expect(store.transfer!.freeze!(1_000)).rejects.toThrow(/^Only the role that owns the tables/);
  });

  it.skipIf(!hasEtcd)('for etcd', async () => {
    const cluster = await startEtcd({ members: 1, inMemory: true });
    onTestFinished(() => cluster.stop());
    const { url } = cluster.members[0]!;
    const line = lineOf('store-etcd', 'etcdctl role add');
    const more = [
      'etcdctl user add agent:secret',
      'etcdctl user grant-role agent agent',
      'etcdctl user add root:secret',
      'etcdctl user grant-role root root',
      'etcdctl auth enable',
    ];
    const env = { ...process.env, ETCDCTL_API: '3', ETCDCTL_ENDPOINTS: url };
    await promisify(execFile)('sh', ['-c', [line, ...more].join(' && ')], { env });
    await doesAll(() =>
      etcdStore([url.replace('://', '://agent:secret@')], {
        prefix: `baton/${randomUUID()}`,
        timeoutMs: 20_000,
      }),
    );
  });
});
