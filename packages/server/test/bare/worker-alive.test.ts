import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { node, run } from '../../../../test/kit/processes.ts';
import { builtProgram } from '../../../../test/support/built-program.ts';
import { canStartEtcd, startEtcd } from '../../../../test/support/etcd.ts';
import { canStartPostgres, startPostgres } from '../../../../test/support/postgres.ts';
import { canStart, startRedis } from '../../../../test/support/redis.ts';

const [hasRedis, hasPostgres, hasEtcd] = [await canStart(), await canStartPostgres(), await canStartEtcd()];
const program = await builtProgram(new URL('./work-until-closed.ts', import.meta.url));

async function livesUntilClosed(kind: string, place: string): Promise<void> {
  await using worker = run(node, ['--no-warnings', program, kind, place]);
  // Rejects if the process ends before.
  await worker.until(/still works/);
  worker.signal('SIGTERM');
  expect(await worker.ended).toBe(0);
  expect(worker.output).toContain('closed');
}

describe('a process that has a worker and nothing else lives until the worker is closed, and no longer', () => {
  it('on a store in memory', () => livesUntilClosed('memory', ''));

  it('on SQLite', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'baton-worker-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    await livesUntilClosed('sqlite', join(folder, 'tasks.db'));
  });

  it.runIf(hasRedis)('on Redis', async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    await livesUntilClosed('redis', redis.url);
  });

  it.runIf(hasPostgres)('on PostgreSQL', async () => {
    const postgres = await startPostgres();
    onTestFinished(() => postgres.stop());
    await livesUntilClosed('postgres', postgres.url);
  });

  it.runIf(hasEtcd)('on etcd', async () => {
    const etcd = await startEtcd({ members: 1, inMemory: true });
    onTestFinished(() => etcd.stop());
    await livesUntilClosed('etcd', etcd.urls.join(','));
  });
});
