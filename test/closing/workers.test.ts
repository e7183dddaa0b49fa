import { join } from 'node:path';
import { createWorker, type WorkerOptions } from '@batonjs/server/worker';
import { nodeHandler } from '@batonjs/server-node';
import type { TaskStore } from '@batonjs/store';
import { sqliteStore } from '@batonjs/store-sqlite';
import { createTaskGateway, type TaskGateway } from '@batonjs/task-gateway';
import { expect, it } from 'vitest';
import { webhook } from '../../packages/server/test/webhooks/kit/webhook.ts';
import { closedAfterTest } from '../kit/closed-after-test.ts';
import { listen } from '../kit/listen.ts';
import { rpc, say } from '../kit/rpc.ts';
import { serve } from '../kit/serve.ts';
import { temporaryFolder } from '../kit/temporary-folder.ts';
import { eventually, until } from '../kit/until.ts';
import { chunks } from './chunks.ts';

// Longer than any test: nothing goes on elsewhere because a lease ran out, only because it was handed over.
const leaseMs = 600_000;
const options = { restart: { maxAttempts: 3 }, timeouts: { leaseMs } } as const;
const push = { allow: ['127.0.0.1:*'], updates: 'all', retry: { baseDelayMs: 1 } } as const;
const returnImmediately = true;

/** Two handles on one SQLite file, as two processes have. */
function twoHandles(): [TaskStore, TaskStore] {
  const file = join(temporaryFolder(), 'tasks.db');
  return [closedAfterTest(sqliteStore(file)), closedAfterTest(sqliteStore(file))];
}

it('a worker that is closed with its handle on the file hands over: each chunk, step and update once', async () => {
  const [one, other] = twoHandles();
  const { agent, runs, release } = chunks();
  const front = serve(agent, { ...options, push, store: other, run: 'workers' });
  const work = (store: TaskStore, more: Partial<WorkerOptions> = {}) =>
    closedAfterTest(createWorker({ agent, store, logger: () => {}, ...options, push, ...more }));
  const first = work(one);
  const hook = await webhook((_got, before) => (before < 1 ? 503 : 200));
  const taskPushNotificationConfig = { url: hook.url() };
  const configuration = { returnImmediately, taskPushNotificationConfig };
  const { task } = await rpc(front, 'SendMessage', { message: say('go'), configuration });
  await eventually(async () =>
    expect((await rpc(front, 'GetTask', { id: task.id })).artifacts).toMatchObject([
      { parts: [{ text: '1' }] },
    ]),
  );
  await first.close({ graceMs: 0 });
  await one.close();
  work(other);
  release();
  const { artifacts } = await until(front, task.id, 'COMPLETED');
  expect(artifacts).toMatchObject([{ parts: [{ text: '1' }, { text: '2' }] }]);
  expect(runs).toEqual(['go', 'go', 'charged']);
  await eventually(() => expect(hook.acknowledged).toContain('COMPLETED'));
  const once = [...new Set(hook.acknowledged)].filter(
    (word) => word.startsWith('a:') || word === 'COMPLETED',
  );
  expect(once).toEqual(['a:1', 'a:2', 'COMPLETED']);
});

it('a gateway that is closed hands its tasks over: the agent does each once, and is not canceled', async () => {
  const [one, other] = twoHandles();
  const { agent, runs, release } = chunks();
  const behind = serve(agent, { ...options, messages: { idempotency: true } });
  const open = async (store: TaskStore): Promise<{ gateway: TaskGateway; url: string }> => {
    const gateway = closedAfterTest(
      createTaskGateway({ types: { held: behind }, store, leaseMs, logger: () => {} }),
    );
    return { gateway, url: await listen(nodeHandler(gateway)) };
  };
  const first = await open(one);
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ taskId: 't', type: 'held', data: { text: 'go' } });
  expect((await fetch(`${first.url}/task`, { method: 'POST', headers, body })).status).toBe(202);
  await eventually(() => expect(runs).toHaveLength(1));
  const poll = fetch(`${first.url}/task/t?after=1000&wait=60`).then(
    ({ status }) => status,
    () => 'left',
  );
  await first.gateway.close({ graceMs: 0 });
  await one.close();
  const second = await open(other);
  release();
  await eventually(async () => {
    const { status } = await (await fetch(`${second.url}/task/t`)).json();
    expect(status).toBe('completed');
  });
  expect(runs.filter((run) => run === 'charged')).toHaveLength(1);
  const { tasks } = await rpc(behind, 'ListTasks', {});
  expect(tasks.map(({ status }: { status: { state: string } }) => status.state)).toEqual([
    'TASK_STATE_COMPLETED',
  ]);
  const history = await (await fetch(`${second.url}/task/t/history`)).json();
  const ended = history.transitions.filter(({ status }: { status: string }) => status === 'completed');
  expect(ended).toHaveLength(1);
  expect(await poll).toBeDefined();
});
