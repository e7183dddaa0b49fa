import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { eraseTasks, forkTask } from '@batonjs/operator';
import { artifact, completed, type Turn, working } from '@batonjs/server';
import type { PushConfigStore, TaskStore } from '@batonjs/store';
import { etcdStore } from '@batonjs/store-etcd';
import { postgresStore } from '@batonjs/store-postgres';
import { redisStore } from '@batonjs/store-redis';
import { afterAll, describe, expect, it } from 'vitest';
import { closedAfterTest } from '../kit/closed-after-test.ts';
import { repetitions } from '../kit/repetitions.ts';
import { rpc, say } from '../kit/rpc.ts';
import { scopeOf } from '../kit/scope.ts';
import { serve } from '../kit/serve.ts';
import { eventually } from '../kit/until.ts';
import { canStartEtcd, startEtcd } from '../support/etcd.ts';
import { canStartPostgres, startPostgres } from '../support/postgres.ts';
import { canStart, startRedis } from '../support/redis.ts';

const isLong = repetitions(0, 1) === 1;
// Otherwise, a search for a text would not find it.
const plain = ['--rdbcompression', 'no', '--aof-use-rdb-preamble', 'no'];
const redis = isLong && (await canStart()) ? await startRedis({ args: plain }) : undefined;
const postgres = isLong && (await canStartPostgres()) ? await startPostgres() : undefined;
const etcd = isLong && (await canStartEtcd()) ? await startEtcd({ members: 1 }) : undefined;
afterAll(() => Promise.all([redis?.stop(), postgres?.stop(), etcd?.stop()]));

/** A database whose files can be read, and are made to hold only what is there. */
interface Files {
  readonly store: TaskStore & PushConfigStore;
  /** As docs/operating/erasing.md says. Resolves to the folder. */
  clean(): Promise<string>;
}

const inRedis = (): Files => ({
  store: redisStore(redis!.url),
  async clean() {
    await redis!.cli('BGREWRITEAOF');
    await eventually(async () => {
      const state = await redis!.cli('INFO', 'persistence');
      expect(state).toMatch(/aof_rewrite_in_progress:0\r?\n/);
      expect(state).toMatch(/aof_rewrite_scheduled:0\r?\n/);
      expect(state).toMatch(/aof_last_bgrewrite_status:ok\r?\n/);
    });
    await redis!.cli('SAVE');
    return (await redis!.cli('CONFIG', 'GET', 'dir')).split('\n')[1]!.trim();
  },
});

const inPostgres = (): Files => ({
  store: postgresStore(postgres!.url, { schema: 'erased', textSearch: true }),
  async clean() {
    const sql = (text: string) => postgres!.run('psql', '-At', '-c', text, postgres!.url);
    const tables = await sql("SELECT tablename FROM pg_tables WHERE schemaname = 'erased'");
    // Values of a column that were planned with stay among its statistics.
    for (const table of tables.trim().split('\n')) await sql(`VACUUM (FULL, ANALYZE) erased.${table}`);
    await sql('VACUUM FULL pg_statistic');
    // Frees the files of the tables as they were.
    await sql('CHECKPOINT');
    return join((await sql('SHOW data_directory')).trim(), 'base');
  },
});

const inEtcd = (): Files => ({
  store: etcdStore(etcd!.urls),
  async clean() {
    const [member] = etcd!.members;
    const { header } = (await member!.ask('maintenance/status')) as { header: { revision: string } };
    await member!.ask('kv/compaction', { revision: header.revision, physical: true });
    await member!.ask('maintenance/defragment');
    return join(member!.dir, 'member', 'snap');
  },
});

const stores: [string, boolean, () => Files][] = [
  ['the RDB and the AOF of Redis', redis !== undefined, inRedis],
  ['the tables of PostgreSQL', postgres !== undefined, inPostgres],
  ['the database of etcd', etcd !== undefined, inEtcd],
];

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

describe('an erased task', () => {
  it.each(stores)('leaves no text in %s', async (_, isHere, open) => {
    if (!isHere) return;
    const { store, clean } = open();
    const caller = 'canary.caller@example.com';
    const scope = scopeOf('agent', '', caller);
    let who = caller;
    closedAfterTest(store);
    const server = serve(
      async function* ({ text, memory, step }: Turn) {
        yield { ...working(`canary status ${text}`), labels: ['canary label'] };
        await memory.set('canary key', 'canary memory');
        await step('canary step', () => 'canary result');
        yield artifact('a', `canary artifact ${'canary '.repeat(2_000)}`);
        yield completed('canary answer');
      },
      {
        store,
        authenticate: () => ({ scope: who }),
        queue: { perCaller: 5 },
        limits: { callers: { requests: { limit: 1_000, perMs: 1_000 } } },
      },
    );
    const message = say('canary message zyxword', { metadata: { secret: 'canary metadata' } });
    const { task } = await rpc(server, 'SendMessage', { message });
    const fork = await forkTask(server, task.id, { caller, by: 'canary operator' });
    await eventually(async () =>
      expect((await rpc(server, 'GetTask', { id: fork })).status.state).toBe('TASK_STATE_COMPLETED'),
    );
    const config = { id: 'w', taskId: task.id, url: 'https://canary.example/', token: 'canary token' };
    const webhook = {
      scope,
      taskId: task.id,
      id: 'w',
      config,
      protocolVersion: '1.0',
      queue: 'agent',
      cursor: 99,
    };
    await store.putPushConfig(webhook);
    who = 'somebody else';
    await rpc(server, 'SendMessage', { message: say('kept') });
    const found = async () => {
      const folder = await clean();
      return filesIn(folder).filter((file) => readFileSync(file).includes('canary message'));
    };
    expect((await found()).length).toBeGreaterThan(0);
    // The index of words has them without the spaces between them.
    const wordsIn = (folder: string) =>
      filesIn(folder).filter((file) => readFileSync(file).includes('messagezyxword'));
    expect(wordsIn(await clean()).length > 0).toBe((await store.searchesText?.()) ?? false);
    const { contextId } = task;
    expect(await eraseTasks(server, { caller, contextId })).toMatchObject({
      tasks: 2,
      webhooks: 1,
      left: [],
    });
    const folder = await clean();
    // The other task has words of the same agent, but not those of this message, nor of the webhook.
    const left = filesIn(folder).filter((file) =>
      [
        'canary message',
        'zyxword',
        'canary metadata',
        'canary token',
        'canary operator',
        'canary.example',
        caller,
      ].some((text) => readFileSync(file).includes(text)),
    );
    expect(left).toEqual([]);
  });
});
