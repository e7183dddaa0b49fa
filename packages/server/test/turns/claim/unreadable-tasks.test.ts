import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Task } from '@batonjs/protocol';
import type { TaskStore } from '@batonjs/store';
import { redisStore } from '@batonjs/store-redis';
import { sqliteStore } from '@batonjs/store-sqlite';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { rpc, say } from '../../../../../test/kit/rpc.ts';
import { serve } from '../../../../../test/kit/serve.ts';
import { temporaryFolder } from '../../../../../test/kit/temporary-folder.ts';
import { canStart, startRedis } from '../../../../../test/support/redis.ts';
import { artifact, completed, text } from '../../../src/index.ts';

const redis = (await canStart()) ? await startRedis() : undefined;
afterAll(() => redis?.stop());

interface Damageable {
  readonly store: TaskStore;
  /** Replaces text in all facts of a task, behind the store's back. */
  damage(taskId: string, from: string, to: string): Promise<void>;
}

function onSqlite(): Damageable {
  const path = join(temporaryFolder(), 'tasks.db');
  const store = sqliteStore(path);
  onTestFinished(async () => {
    await store.close();
  });
  return {
    store,
    async damage(taskId, from, to) {
      const db = new DatabaseSync(path);
      db.prepare(
        'UPDATE facts SET fact = replace(fact, ?, ?) WHERE task = (SELECT id FROM tasks WHERE task_id = ?)',
      ).run(from, to, taskId);
      db.close();
    },
  };
}

function onRedis(): Damageable {
  const store = redisStore({ url: redis!.url });
  onTestFinished(async () => {
    await store.close();
    await redis!.cli('FLUSHALL');
  });
  return {
    store,
    async damage(taskId, from, to) {
      const script = `for n, entry in ipairs(redis.call('LRANGE', KEYS[1], 0, -1)) do
        local a, b = string.find(entry, ARGV[1], 1, true)
        if a then redis.call('LSET', KEYS[1], n - 1, string.sub(entry, 1, a - 1) .. ARGV[2] .. string.sub(entry, b + 1)) end
      end`;
      const find = `return redis.call('KEYS', '*log:${taskId}*')[1]`;
      await redis!.cli('EVAL', `local KEYS = {(function() ${find} end)()} ${script}`, '0', from, to);
    },
  };
}

const stores = [['SQLite', onSqlite] as const, ...(redis ? [['Redis', onRedis] as const] : [])];
const damages = [
  ['of a newer format', '"format":1', '"format":2'],
  ['of invalid JSON', '{"format"', '{format'],
] as const;

describe.each(stores)('with %s', (_name, open) => {
  it.each(damages)(
    'a task with facts %s is listed without its content; the others are listed whole',
    async (_, from, to) => {
      const { store, damage } = open();
      const logged: unknown[] = [];
      const server = serve(
        async function* () {
          yield artifact('out', text('hello'));
          yield completed('Done');
        },
        { store, logger: (level, _message, details) => level === 'error' && logged.push(details.taskId) },
      );
      const ids: string[] = [];
      for (let n = 0; n < 3; n++)
        ids.push((await rpc(server, 'SendMessage', { message: say('go') })).task.id);
      await damage(ids[1]!, from, to);

      for (const detail of [{}, { includeArtifacts: true }, { historyLength: 5 }]) {
        logged.length = 0;
        const { tasks, totalSize } = await rpc(server, 'ListTasks', detail);
        const byId = new Map(tasks.map((task: Task) => [task.id, task]));
        expect([byId.size, totalSize]).toEqual([3, 3]);
        expect(byId.get(ids[1])).toEqual({
          id: ids[1],
          contextId: expect.stringMatching(/./),
          status: { state: 'TASK_STATE_COMPLETED', timestamp: expect.stringMatching(/Z$/) },
        });
        for (const id of [ids[0], ids[2]])
          expect(byId.get(id)).toMatchObject({
            status: { message: { parts: [{ text: 'Done' }] } },
            ...('includeArtifacts' in detail && { artifacts: [{ parts: [{ text: 'hello' }] }] }),
          });
        expect(logged).toEqual([ids[1]]);
      }

      const first = await rpc(server, 'ListTasks', { includeArtifacts: true, pageSize: 2 });
      const rest = await rpc(server, 'ListTasks', {
        includeArtifacts: true,
        pageSize: 2,
        pageToken: first.nextPageToken,
      });
      expect([...first.tasks, ...rest.tasks].map(({ id }: Task) => id).toSorted()).toEqual(ids.toSorted());
      await expect(rpc(server, 'GetTask', { id: ids[1] })).rejects.toThrow();
    },
  );
});
