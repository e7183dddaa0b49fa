import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { node, run } from '../../../test/kit/processes.ts';
import { repetitions } from '../../../test/kit/repetitions.ts';
import { canStartEtcd, startEtcd } from '../../../test/support/etcd.ts';
import { postgresForTests } from '../../../test/support/postgres.ts';
import { canStart } from '../../../test/support/redis.ts';

const app = join(import.meta.dirname, '..');
const start = ['--conditions=@batonjs/source', 'src/main.ts'];
const folder = mkdtempSync(join(tmpdir(), 'two-servers-test-'));
const postgres = await postgresForTests();
const etcd = (await canStartEtcd()) ? await startEtcd({ members: 1, inMemory: true }) : undefined;
afterAll(async () => {
  await etcd?.stop();
  rmSync(folder, { recursive: true });
});

const stores = [
  // Without one, it starts a Redis.
  ...((await canStart()) ? ([['Redis', '']] as const) : []),
  ['SQLite', `sqlite:${join(folder, 'tasks.db')}`],
  ...(postgres ? ([['PostgreSQL', postgres.url]] as const) : []),
  ...(etcd ? ([['etcd', `etcd://${etcd.urls.map((url) => new URL(url).host)}`]] as const) : []),
] as const;

// Each starts five processes: what the other stores add is tested with them, and here in `test:long`.
describe.each(stores.slice(0, repetitions(1, 4)))('two servers and a worker on %s', (_, BATON_STORE) => {
  it('are one agent to a client, also when the worker is killed', { timeout: 300_000 }, async () => {
    await using command = run(node, start, { cwd: app, env: { BATON_STORE } });
    expect(await command.ended, command.output).toBe(0);
    // A busy machine lets a process stand still, which the process logs.
    const lines = command.output.split('\n').filter((line) => !line.includes('The event loop was blocked'));
    const steps = lines.map((line) => line.replaceAll(/[\da-f-]{36}/g, '…'));
    expect(steps.map((line) => line.replaceAll(/"\d+"/g, '"n"').trimEnd())).toEqual([
      'A  starts …',
      'B  follows it, and hears the question: How far shall I count?',
      'A  says the same when it is asked',
      'B  takes the answer: 30',
      '    worker 1 is killed (SIGKILL) after "n"',
      '    worker 2 logs: A turn was taken over: the lease of its process expired (attempt 1 of 3)',
      '    worker 2 logs: A turn is run again (attempt 2 of 3)',
      '    worker 2 goes on with "n", and who followed heard each number once',
      'A  starts …',
      'B  follows it',
      'A  cancels it',
      'B  knows, and notified its follower',
      '    SIGTERM: all ended by themselves',
      'All as it should be',
      '',
    ]);
  });
});

it('says in one line how to get a Redis where there is none', async () => {
  await using command = run(node, start, { cwd: app, env: { PATH: '/nowhere', BATON_STORE: '' } });
  expect(await command.ended).toBe(1);
  expect(command.output).toMatch(/^No redis-server here: .*set BATON_STORE\.\n$/);
});

it('says in one line that a store of one process cannot be shared', async () => {
  await using command = run(node, start, { cwd: app, env: { BATON_STORE: 'memory:' } });
  expect(await command.ended).toBe(1);
  expect(command.output).toMatch(/^memory: is of one process\. Several share sqlite:, .*\n$/);
});
