import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { backup as copyDatabase, DatabaseSync } from 'node:sqlite';
import { type Agent, artifact, completed, taskAgent, text } from '@batonjs/server';
import type { TaskStore } from '@batonjs/store';
import { etcdStore } from '@batonjs/store-etcd';
import { postgresStore } from '@batonjs/store-postgres';
import { sqliteStore } from '@batonjs/store-sqlite';
import { afterAll, describe, expect, it } from 'vitest';
import { webhook } from '../../packages/server/test/webhooks/kit/webhook.ts';
import { closedAfterTest } from '../kit/closed-after-test.ts';
import { repetitions } from '../kit/repetitions.ts';
import { brief, rpc, say, stream } from '../kit/rpc.ts';
import { serve } from '../kit/serve.ts';
import { temporaryFolder } from '../kit/temporary-folder.ts';
import { eventually, until } from '../kit/until.ts';
import { canRestoreEtcd, startEtcd } from '../support/etcd.ts';
import { canStartPostgres, startPostgres } from '../support/postgres.ts';

const postgres = (await canStartPostgres()) ? await startPostgres(['-c', 'fsync=off']) : undefined;
const etcd = (await canRestoreEtcd()) ? await startEtcd({ inMemory: true }) : undefined;
afterAll(() => Promise.all([postgres?.stop(), etcd?.stop()]));

/** A database that can be backed up while it is used, and replaced by its backup while no process has it open. */
interface Kept {
  open(): TaskStore;
  backup(): Promise<void>;
  restore(): Promise<void>;
}

/** As docs/operating/backup.md says for SQLite. */
function sqlite(): Kept {
  const folder = temporaryFolder();
  const [path, copy] = [join(folder, 'tasks.db'), join(folder, 'backup.db')];
  return {
    open: () => closedAfterTest(sqliteStore(path)),
    async backup() {
      const database = new DatabaseSync(path, { readOnly: true });
      await copyDatabase(database, copy);
      database.close();
    },
    async restore() {
      for (const end of ['', '-wal', '-shm']) rmSync(path + end, { force: true });
      const database = new DatabaseSync(copy, { readOnly: true });
      await copyDatabase(database, path);
      database.close();
    },
  };
}

let databases = 0;

/** As docs/operating/backup.md says for PostgreSQL. */
function onPostgres(): Kept {
  const { url, run } = postgres!;
  const schema = `kept_${++databases}`;
  const dump = join(temporaryFolder(), 'backup.dump');
  return {
    open: () => closedAfterTest(postgresStore(url, { schema, connections: 3 })),
    async backup() {
      await run('pg_dump', '--format=custom', `--schema=${schema}`, `--file=${dump}`, url);
    },
    async restore() {
      const how = ['--clean', '--if-exists', '--single-transaction'];
      await run('pg_restore', ...how, `--dbname=${url}`, dump);
    },
  };
}

/** As docs/operating/backup.md says for etcd. */
function onEtcd(): Kept {
  const prefix = `kept-${++databases}`;
  const snapshot = join(temporaryFolder(), 'backup.db');
  return {
    open: () => closedAfterTest(etcdStore(etcd!.urls, { prefix, timeoutMs: 20_000 })),
    backup: () => etcd!.backup(snapshot),
    restore: () => etcd!.restore(snapshot),
  };
}

/** Its first attempt says a, b and c, each when the test asks for it; a later one says `again` and completes. */
function stepwise() {
  const gates = Object.fromEntries(['a', 'b', 'c'].map((name) => [name, Promise.withResolvers<void>()]));
  const agent: Agent = taskAgent(async function* ({ attempt, text: said, signal }) {
    if (said === 'quick') return yield completed();
    if (attempt > 1) {
      yield artifact('again', text('again'));
      return yield completed();
    }
    for (const [name, gate] of Object.entries(gates)) {
      await gate.promise;
      yield artifact(name, text(name));
    }
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
  });
  return { agent, say: (name: string) => gates[name]!.resolve() };
}

const now = { configuration: { returnImmediately: true } };

describe.each([
  ['SQLite', sqlite] as const,
  ...(postgres ? [['PostgreSQL', onPostgres] as const] : []),
  ...(etcd ? [['etcd', onEtcd] as const] : []),
])('a store of %s that was restored from a backup', (name, prepare) => {
  // Each restores a cluster of three members: one of them in a short run.
  const isSlow = name === 'etcd' && !repetitions(0, 1);
  const options = { restart: 'rerun', timeouts: { leaseMs: 1_000, sweepMs: 50 } } as const;
  // A delivery that was under way when the backup was made is repeated after this time.
  const push = {
    allow: ['127.0.0.1:*'],
    timeoutMs: 1_000,
    retry: { baseDelayMs: 5, maxDelayMs: 20, maxAttempts: 1_000 },
  };

  /** A task that had said `a` when the backup was made, and `c` when the process and the database were lost. */
  async function lose() {
    const kept = prepare();
    const steps = stepwise();
    const store = kept.open();
    const server = serve(steps.agent, { ...options, push, store });
    const hook = await webhook();

    const done = (await rpc(server, 'SendMessage', { message: say('quick') })).task.id;
    const id: string = (await rpc(server, 'SendMessage', { message: say('slow'), ...now })).task.id;
    await rpc(server, 'CreateTaskPushNotificationConfig', { id: 'hook', taskId: id, url: hook.url() });
    const eventIds = new Map<string, string>();
    const following = (async () => {
      for await (const { id: at, event } of stream(server, 'SubscribeToTask', { id }))
        eventIds.set(brief(event), at ?? '');
    })().catch(() => {});
    await eventually(() => expect(eventIds.size).toBe(1));
    steps.say('a');
    await eventually(() => expect(eventIds.has('a:a')).toBe(true));
    await eventually(() => expect(hook.acknowledged).toContain('a:a'));
    await kept.backup();

    for (const name of ['b', 'c']) {
      steps.say(name);
      await eventually(() => expect(eventIds.has(`${name}:${name}`)).toBe(true));
    }
    await eventually(() => expect(hook.acknowledged).toContain('c:c'));
    const late = say('quick');
    const { task } = await rpc(server, 'SendMessage', { message: late });
    await server.close({ graceMs: 0 });
    await store.close();
    await following;
    await kept.restore();

    const again = serve(steps.agent, { ...options, push, store: kept.open() });
    return { server: again, done, id, eventIds, hook, late, lateId: task.id };
  }

  it('has the tasks of then, runs what ran then again, and knows nothing of what came later', async () => {
    const { server, done, id, late, lateId } = await lose();
    expect((await rpc(server, 'GetTask', { id: done })).status.state).toBe('TASK_STATE_COMPLETED');
    // The lease in the backup runs out like one of a process that died.
    const task = await until(server, id, 'COMPLETED');
    expect(task.artifacts?.map(({ artifactId }) => artifactId)).toEqual(['a', 'again']);
    await expect(rpc(server, 'GetTask', { id: lateId })).rejects.toMatchObject({
      reason: 'TASK_NOT_FOUND',
    });
    const { task: repeated } = await rpc(server, 'SendMessage', { message: late });
    expect(repeated.status.state).toBe('TASK_STATE_COMPLETED');
  });

  it.skipIf(isSlow)(
    'sends a follower of a lost event the task as it is, and others what follows',
    async () => {
      const { server, id, eventIds } = await lose();
      const resumed = async (name: string) => {
        const seen: string[] = [];
        const headers = { 'last-event-id': eventIds.get(name)! };
        for await (const { event } of stream(server, 'SubscribeToTask', { id }, headers))
          seen.push(brief(event));
        return seen;
      };
      const [lost, known] = await Promise.all([resumed('c:c'), resumed('a:a')]);
      expect(lost[0]).toMatch(/^task /);
      expect(known).toEqual(['again:again', 'COMPLETED']);
      expect(lost.at(-1)).toBe('COMPLETED');
    },
  );

  it.skipIf(isSlow)('delivers to webhooks from where they were then', async () => {
    const { server, id, hook } = await lose();
    const before = hook.acknowledged.length;
    await until(server, id, 'COMPLETED');
    await eventually(() => expect(hook.acknowledged.at(-1)).toBe('COMPLETED'));
    const after = hook.acknowledged.slice(before);
    expect(after).toContain('again:again');
    expect(after).not.toContain('b:b');
    expect(after.filter((event) => event === 'COMPLETED')).toEqual(['COMPLETED']);
  });
});

describe.skipIf(!postgres)('a PostgreSQL that is restored under running processes', () => {
  it('ends their turns and streams, and the task goes on as the backup has it', async () => {
    const kept = onPostgres();
    const steps = stepwise();
    const lost: unknown[] = [];
    const server = serve(steps.agent, {
      restart: 'rerun',
      timeouts: { leaseMs: 1_000, sweepMs: 50 },
      store: kept.open(),
      logger: (_, message, { knownVersion, storedVersion }) => {
        if (message === 'The store lost facts of a task') lost.push([knownVersion, storedVersion]);
      },
    });
    const id: string = (await rpc(server, 'SendMessage', { message: say('slow'), ...now })).task.id;
    const seen: string[] = [];
    const ended = (async () => {
      for await (const { event } of stream(server, 'SubscribeToTask', { id })) seen.push(brief(event));
    })().catch((error: unknown) => error);
    await eventually(() => expect(seen.length).toBe(1));
    steps.say('a');
    await eventually(() => expect(seen).toContain('a:a'));
    await kept.backup();
    for (const name of ['b', 'c']) steps.say(name);
    await eventually(() => expect(seen).toContain('c:c'));
    await kept.restore();
    expect(await ended).toMatchObject({ reason: 'UNAVAILABLE' });
    const task = await until(server, id, 'COMPLETED');
    expect(task.artifacts?.map(({ artifactId }) => artifactId)).toEqual(['a', 'again']);
    expect(lost).toEqual([[6, 4]]);
  });
});
