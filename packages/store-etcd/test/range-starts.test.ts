import { randomUUID } from 'node:crypto';
import { createStore } from '@batonjs/store/adapter';
import { describe, expect, it, onTestFinished } from 'vitest';
import { chunkAfter, headAt } from '../../../test/kit/task-logs.ts';
import { etcdForTests } from '../../../test/support/etcd.ts';
import { startStoreProcess } from '../../../test/support/remote-stores.ts';
import { Cluster } from '../src/cluster/cluster.ts';
import { connectionsTo } from '../src/cluster/connections.ts';
import { etcdRows } from '../src/etcd-store.ts';
import { inside, insideUntil, keysOf, timeIn } from '../src/layout/keys.ts';
import { rangeStartsOf } from '../src/rows/range-starts.ts';
import type { TxnRequest } from '../src/wire/messages.ts';

const etcd = await etcdForTests();

const hour = 3_600_000;

/** A cluster that writes down where the ranges begin that it is asked for. */
class RecordingCluster extends Cluster {
  readonly starts: string[] = [];

  override transact(request: TxnRequest) {
    for (const { range } of request.success ?? []) if (range) this.starts.push(String(range.key));
    return super.transact(request);
  }
}

function connect(): RecordingCluster {
  const connections = connectionsTo(etcd!.urls, undefined);
  onTestFinished(() => connections.close());
  return new RecordingCluster(connections, 20_000);
}

describe.skipIf(!etcd)('A range whose first keys are deleted again and again', () => {
  it('is read from the first key that was found, and whole every second', async () => {
    const cluster = connect();
    let now = 0;
    const starts = rangeStartsOf(() => now);
    const folder = `starts/${randomUUID()}/`;
    const put = (...times: number[]) =>
      cluster.transact({
        success: times.map((at) => ({ put: { key: `${folder}${timeIn(at)}`, value: '' } })),
      });
    const remove = (...times: number[]) =>
      cluster.transact({ success: times.map((at) => ({ delete: { key: `${folder}${timeIn(at)}` } })) });
    const read = async (range = inside(folder)) => {
      const from = starts.from(range);
      const [{ kvs }] = await cluster.read([{ ...from, limit: 2 }]);
      starts.remember(range, kvs);
      const place = (key: string | Buffer) => Number(String(key).slice(folder.length));
      return { from: place(from.key), found: kvs.map(({ key }) => place(key)) };
    };
    await put(1, 2, 3, 4, 5);
    expect(await read()).toEqual({ from: 0, found: [1, 2] });
    await remove(1, 2, 3);
    expect(await read()).toEqual({ from: 1, found: [4, 5] });
    await put(2);
    now += 999;
    expect(await read()).toEqual({ from: 4, found: [4, 5] });
    now += 1;
    expect(await read()).toEqual({ from: 0, found: [2, 4] });
    expect(await read()).toEqual({ from: 2, found: [2, 4] });

    // A range that ends now is empty up to its end, and goes on there.
    await remove(2, 4, 5);
    expect(await read(insideUntil(folder, 7))).toEqual({ from: 2, found: [] });
    await put(8);
    expect(await read(insideUntil(folder, 9))).toEqual({ from: 8, found: [8] });
  });
});

describe.skipIf(!etcd)('A long queue', () => {
  it('is claimed from its first task on, and finds one that another process puts before it', async () => {
    const prefix = `starts/${randomUUID()}`;
    const cluster = connect();
    const store = createStore('etcd', etcdRows(cluster, keysOf(prefix), undefined));
    onTestFinished(() => store.close());
    const turn = { queue: 'q', want: true };
    const tasks = Array.from({ length: 2_100 }, (_, n) => `t${n}`);
    await Promise.all(tasks.map((taskId) => store.commit(chunkAfter(0, { taskId, turn }))));
    // A holder is given again what it holds.
    const claim = () => store.claim({ queue: 'q', holder: randomUUID(), ttlMs: hour, limit: 1 });
    const { due, leased, waiting } = keysOf(prefix);
    const folders = [waiting('q'), due('q'), leased('q')];

    const claimed = [...(await claim()), ...(await claim())];
    const readOf = async () => {
      cluster.starts.length = 0;
      claimed.push(...(await claim()));
      return folders.map((folder) =>
        cluster.starts.find((key) => key.startsWith(folder))?.slice(folder.length),
      );
    };
    const placed = expect.stringMatching(/./);
    await expect.poll(readOf).toEqual([placed, placed, placed]);

    const other = startStoreProcess(-hour);
    onTestFinished(() => other.kill());
    const there = other.open('etcd', etcd!.urls, { prefix });
    await there.commit(chunkAfter(0, { taskId: 'early', turn }));
    const dueAt = new Date(Date.now() - hour).toISOString();
    await there.commit(chunkAfter(0, { taskId: 'due', turn: { queue: 'q' }, head: headAt(1, { dueAt }) }));
    const names = async () => {
      claimed.push(...(await claim()));
      return claimed.map(({ taskId }) => taskId);
    };
    await expect.poll(names, { timeout: 20_000 }).toEqual(expect.arrayContaining(['early', 'due']));
    // Long before the front of the queue is read again.
    expect(claimed.length).toBeLessThan(900);
    expect(new Set(claimed.map(({ taskId }) => taskId)).size).toBe(claimed.length);
  });
});
