import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { chunkAfter, untilItWorks } from '../../../test/kit/task-logs.ts';
import { canStartEtcd, startEtcd } from '../../../test/support/etcd.ts';
import { etcdStore } from '../src/index.ts';

const quota = ['--quota-backend-bytes', String(16 * 2 ** 20)];
const cluster = (await canStartEtcd()) ? await startEtcd({ inMemory: true, args: quota }) : undefined;
afterAll(() => cluster?.stop());

const full = {
  code: 'UNAVAILABLE',
  trouble: 'disk-full',
  message: expect.stringContaining('quota'),
};
/** A commit whose snapshot replaces a large one, which stays in the history until that is compacted. */
const large = (version: number, taskId: string) =>
  chunkAfter(version, { taskId, snapshot: { version: version + 1, text: 'x'.repeat(20_000) } as never });

/** Makes space as an operator does. */
async function makeSpace(): Promise<void> {
  const [member] = cluster!.members;
  const { header } = await member!.ask('kv/range', { key: 'AA==', limit: 1 });
  const { revision } = header as { revision: string };
  await member!.ask('kv/compaction', { revision, physical: true });
  for (const one of cluster!.members) await one.ask('maintenance/defragment');
  const { alarms = [] } = (await member!.ask('maintenance/alarm', {})) as { alarms?: object[] };
  for (const alarm of alarms) await member!.ask('maintenance/alarm', { action: 'DEACTIVATE', ...alarm });
}

describe.skipIf(!cluster)('A cluster that reached its quota', () => {
  it('refuses writes with a reason, lets tasks be read and pruned, and writes go on after space was made', {
    timeout: 300_000,
  }, async () => {
    const store = etcdStore(cluster!.urls, { timeoutMs: 20_000 });
    onTestFinished(() => store.close());
    const tasks = Array.from({ length: 30 }, (_, n) => `t${n}`);
    const lengths = new Map<string, number>();
    let refusal: unknown;
    // Writes that share transactions count too.
    for (let version = 0; refusal === undefined; version++) {
      const commits = tasks.map((taskId) => store.commit(large(version, taskId)));
      for (const [n, outcome] of (await Promise.allSettled(commits)).entries()) {
        if (outcome.status === 'fulfilled') lengths.set(tasks[n]!, version + 1);
        else refusal = outcome.reason;
      }
    }
    expect(refusal).toMatchObject(full);
    await expect(store.probe!()).rejects.toMatchObject(full);
    for (const taskId of tasks) {
      const length = lengths.get(taskId) ?? 0;
      const version = (await store.load('s', taskId))?.version ?? 0;
      // A write that is answered with an error may have happened.
      expect([length, length + 1]).toContain(version);
      lengths.set(taskId, version);
    }

    await makeSpace();
    const closing = tasks.slice(1).map((taskId) => {
      const version = lengths.get(taskId)!;
      const head = { ...chunkAfter(version).head!, closed: true };
      return untilItWorks(() => store.commit(chunkAfter(version, { taskId, head })));
    });
    await Promise.all(closing);
    await cluster!.members[0]!.ask('maintenance/alarm', { action: 'ACTIVATE', alarm: 'NOSPACE' });
    await expect(store.probe!()).rejects.toMatchObject(full);
    expect(await store.prune({ closedBefore: '2100-01-01T00:00:00.000Z', limit: 99 })).toBe(29);

    await makeSpace();
    const version = lengths.get('t0')!;
    expect(await store.commit(large(version, 't0'))).toEqual({ version: version + 1 });
    expect(await store.readFacts('s', 't0', 0, 999)).toHaveLength(version + 1);
  });
});

describe.skipIf(!cluster)('A cluster that takes small requests only', () => {
  it('is sent writes one by one where they are too large together, and the one that is too large fails alone', async () => {
    const small = await startEtcd({
      members: 1,
      inMemory: true,
      args: ['--max-request-bytes', String(64 * 1024)],
    });
    onTestFinished(() => small.stop());
    const sizes: number[] = [];
    const store = etcdStore(small.urls, { timeoutMs: 20_000, onGroup: (size) => sizes.push(size) });
    onTestFinished(() => store.close());
    const tasks = Array.from({ length: 12 }, (_, n) => `t${n}`);
    await store.ping();
    const ofSize = (taskId: string) => {
      const text = 'x'.repeat(taskId === 't5' ? 100_000 : 20_000);
      return chunkAfter(0, { taskId, snapshot: { version: 1, text } as never });
    };
    const outcomes = await Promise.allSettled(tasks.map((taskId) => store.commit(ofSize(taskId))));
    const refused = outcomes.flatMap((outcome, n) =>
      outcome.status === 'rejected' ? [[tasks[n], outcome.reason]] : [],
    );
    expect(refused).toEqual([
      [
        't5',
        expect.objectContaining({
          code: 'INVALID_COMMIT',
          message: expect.stringContaining('--max-request-bytes'),
        }),
      ],
    ]);
    expect(sizes).toEqual(Array(11).fill(1));
  });
});
