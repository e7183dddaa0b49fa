import { randomUUID } from 'node:crypto';
import type { Delivery, Lease } from '@batonjs/store';
import { createStore } from '@batonjs/store/adapter';
import { describe, expect, it, onTestFinished } from 'vitest';
import { chunkAfter, headAt } from '../../../test/kit/task-logs.ts';
import { etcdForTests } from '../../../test/support/etcd.ts';
import { Cluster } from '../src/cluster/cluster.ts';
import { connectionsTo } from '../src/cluster/connections.ts';
import { etcdRows } from '../src/etcd-store.ts';
import { keysOf } from '../src/layout/keys.ts';
import type { RangeRequest, TxnRequest } from '../src/wire/messages.ts';

const etcd = await etcdForTests();

type Read = Omit<RangeRequest, 'key' | 'rangeEnd'> & { readonly key?: string | Uint8Array };

/** A cluster that writes down what it is sent. */
class RecordingCluster extends Cluster {
  readonly sent: TxnRequest[] = [];

  override transact(request: TxnRequest) {
    this.sent.push(request);
    return super.transact(request);
  }
}

async function open(prefix = `trips/${randomUUID()}`) {
  const cluster = new RecordingCluster(connectionsTo(etcd!.urls, undefined), 20_000);
  const store = createStore('etcd', etcdRows(cluster, keysOf(prefix), undefined));
  onTestFinished(() => store.close());
  await store.ping();
  /** The first part of a key behind the prefix. */
  const kindOf = (key: string | Uint8Array = '') =>
    String(key)
      .slice(prefix.length + 1)
      .split('/')[0];
  const readOf = ({ key, limit, keysOnly, countOnly }: Read) => {
    const what = countOnly ? 'count' : keysOnly ? 'keys' : 'read';
    return `${what} ${kindOf(key)}${limit ? `*${limit}` : ''}`;
  };
  const shapeOf = ({ compare = [], success = [], failure = [] }: TxnRequest): string =>
    [
      ...compare.map(({ key }) => `if ${kindOf(key)}`),
      ...success.map((one) => {
        if (one.put) return `put ${kindOf(one.put.key)}`;
        return one.delete ? `delete ${kindOf(one.delete.key)}` : readOf(one.range ?? {});
      }),
      ...failure.map(({ range = {} }) => `else ${readOf(range)}`),
    ].join(', ');
  /** What a call sends, each string a round trip. Whether the clock is read goes by the time. */
  const sentBy = async (call: () => unknown): Promise<string[]> => {
    cluster.sent.length = 0;
    await call();
    const shapes = cluster.sent.map(shapeOf).filter((shape) => !/(if|read) clock/.test(shape));
    // Each write compares that the store is not frozen, and looks at that only if it is refused.
    return shapes.map((shape) => shape.replace(/if frozen, /, '').replace(/, else read frozen$/, ''));
  };
  return { store, sentBy, prefix };
}

const lease = { queue: 'q', holder: 'h', ttlMs: 60_000, limit: 1 };
const webhook = {
  ...{ scope: 's', taskId: 't', id: 'w', queue: 'q', cursor: 2, protocolVersion: '1.0' },
  config: { id: 'w', taskId: 't', url: 'https://hooks.example' },
};
const everything = { closedBefore: '2100-01-01T00:00:00.000Z', limit: 9 };
const ended = { closed: true, state: 'TASK_STATE_COMPLETED' } as const;
const appended = 'if task, put fact, put task, else read fact, else read task';

describe.skipIf(!etcd)('A process that wrote a task last', () => {
  it('commits to it in one round trip, and moves it only in the lists and queues where it is found elsewhere', async () => {
    const { store, sentBy } = await open();
    expect(await sentBy(() => store.commit(chunkAfter(0)))).toEqual([
      'if task, put list, put context, put fact, put task, else read fact, else read task',
    ]);
    expect(await sentBy(() => store.commit(chunkAfter(1)))).toEqual([appended]);
    const head = headAt(3, { statusAt: '2026-01-02T00:00:00.000Z' });
    expect(await sentBy(() => store.commit(chunkAfter(2, { head })))).toEqual([
      'if task, delete list, delete context, put list, put context, put fact, put task, else read fact, else read task',
    ]);
    const turn = { queue: 'q', want: true };
    const wanted = await sentBy(() => store.commit(chunkAfter(3, { turn, head: { ...head, version: 4 } })));
    expect(wanted).toEqual(['if task, put ready, put fact, put task, else read fact, else read task']);
    const once = { ...chunkAfter(4), expectedVersion: 'open', once: 'key', head: undefined } as const;
    expect(await sentBy(() => store.commit(once))).toEqual([
      'if once, if task, put fact, put once, put task, else read fact, else read task',
    ]);
  });

  it('looks at what etcd has where it does not know better: for a refusal, a repetition, what another process wrote', async () => {
    const { store, sentBy, prefix } = await open();
    const other = await open(prefix);
    await store.commit(chunkAfter(0));
    const look = 'read task, read webhooks';
    const refused = () =>
      expect(store.commit(chunkAfter(0))).rejects.toMatchObject({ code: 'VERSION_CONFLICT' });
    expect(await sentBy(refused)).toEqual([look]);
    // A task that a process does not know is taken for a new one, unless the commit says that there is more.
    expect(await other.sentBy(() => other.store.commit(chunkAfter(1)))).toEqual([look, appended]);
    expect(await other.sentBy(() => other.store.commit(chunkAfter(2)))).toEqual([appended]);
    // What the first one remembers is refused by etcd, and forgotten.
    const once = { ...chunkAfter(0), expectedVersion: 'open', once: 'key', head: undefined } as const;
    const tried = 'if once, if task, put fact, put once, put task, else read fact, else read task';
    expect(await sentBy(() => store.commit(once))).toEqual([
      tried,
      'read task, read webhooks, read once',
      tried,
    ]);
    expect(await sentBy(() => store.commit(chunkAfter(4)))).toEqual([appended]);
    expect(await sentBy(() => store.commit({ ...once, commitId: 'again' }))).toEqual([
      tried,
      'read task, read webhooks, read once',
    ]);
  });

  it('has the webhooks of it, too', async () => {
    const { store, sentBy } = await open();
    await store.commit(chunkAfter(0));
    expect(await sentBy(() => store.putPushConfig(webhook))).toEqual([
      'if task, if webhooks, put webhooks, put task, else read webhooks, else read task',
    ]);
    expect(await sentBy(() => store.commit(chunkAfter(1)))).toEqual([
      'if task, if webhooks, put fact, put task, else read fact, else read task',
    ]);
    expect(await sentBy(() => store.commit(chunkAfter(2)))).toEqual([
      'if task, if webhooks, put webhooks, put ready, put fact, put task, else read webhooks, else read fact, else read task',
    ]);
    // It is put again, so that processes that watch it notice.
    expect(await sentBy(() => store.commit(chunkAfter(3)))).toEqual([
      'if task, if webhooks, put ready, put fact, put task, else read fact, else read task',
    ]);
    let deliveries: readonly Delivery[] = [];
    const claimed = await sentBy(async () => {
      deliveries = await store.claimDeliveries(lease);
    });
    expect(claimed).toEqual([
      'keys ready*1',
      'read webhooks',
      'if webhooks, put webhooks, delete ready, put ready, else read webhooks',
    ]);
    expect(await sentBy(() => store.advance(deliveries[0]!, { cursor: 4 }))).toEqual([
      'read task, read webhooks',
      'if task, if webhooks, put webhooks, delete ready, else read webhooks',
    ]);
    expect(await sentBy(() => store.removePushConfig('s', 't', 'w'))).toEqual([
      'if task, if webhooks, delete webhooks, put task, else read task, else read webhooks',
    ]);
  });

  it('renews, commits and ends its turn in one round trip each', async () => {
    const { store, sentBy } = await open();
    await store.commit(chunkAfter(0, { turn: { queue: 'q', want: true } }));
    let leases: readonly Lease[] = [];
    const claimed = await sentBy(async () => {
      leases = await store.claim(lease);
    });
    const [searched, ...others] = claimed;
    expect([searched, others]).toEqual([
      'keys holder*1',
      [
        'keys ready*1, keys due*1, keys leased*1',
        'read task',
        'if task, delete ready, put leased, put holder, put task, else read task',
      ],
    ]);
    expect(await sentBy(() => store.renew(leases, 90_000))).toEqual([
      'if task, delete leased, put leased, put task, else read task',
    ]);
    const writer = leases[0]!;
    expect(await sentBy(() => store.commit(chunkAfter(1, { writer })))).toEqual([appended]);
    expect(await sentBy(() => store.commit(chunkAfter(2, { writer, head: headAt(3, ended) })))).toEqual([
      'if task, delete list, delete context, delete leased, delete holder, put list, put context, put ended, put fact, put task, else read fact, else read task',
    ]);
    const asking = chunkAfter(0, { taskId: 'v', unlessDeleted: true });
    expect(await sentBy(() => store.commit(asking))).toHaveLength(1);
    expect(await sentBy(() => store.prune(everything))).toEqual([
      'keys ended*9',
      'read task',
      'keys record-end*9',
      'read record',
      'if record, if task, delete list, delete context, delete ended, delete task, delete snapshot, delete webhooks, delete fact, delete part, delete once, delete config, put record-end, put record, else read record, else read task',
      ...['keys ended*8', 'keys record-end*8'],
    ]);
    expect(await sentBy(() => store.claim(lease))).toEqual([
      'keys holder*1',
      'keys ready*1, keys due*1, keys leased*1',
    ]);
  });
});

describe.skipIf(!etcd)('Other calls', () => {
  it('of a schedule read what waits, the tasks that are next, and write the order with the turns', async () => {
    const { store, sentBy } = await open();
    const turn = { queue: 'q', want: true, aheadMs: 0 };
    await store.commit(chunkAfter(0, { turn }));
    const schedule = { concurrency: 5, perCaller: 5, perContext: 5 };
    const looks = [
      'read queue, keys served, read leased, read turn',
      'keys holder*1',
      'keys ready*1, keys due*1, keys leased*1',
      'read task',
      'read turn*100',
      'read task',
    ];
    let leases: readonly Lease[] = [];
    const claim = () =>
      sentBy(async () => {
        leases = await store.claim({ ...lease, schedule });
      });
    expect(await claim()).toEqual([
      ...looks,
      'if queue, if task, delete ready, delete turn, put leased, put holder, put task, put queue, put served, else read task, else read queue',
    ]);
    const release = { facts: [], head: undefined, turn: { ...turn, release: true }, writer: leases[0]! };
    expect(await sentBy(() => store.commit(chunkAfter(1, release)))).toEqual([
      'if task, delete leased, delete holder, put ready, put turn, put task, else read task',
    ]);
    expect(await claim()).toEqual([
      ...looks,
      'if queue, if task, delete ready, delete turn, put leased, put holder, put task, put queue, delete served, put served, else read task, else read queue',
    ]);
  });

  it('read no more than they show', async () => {
    const { store, sentBy } = await open();
    await store.commit(chunkAfter(0, { turn: { queue: 'q', want: true } }));
    const states = 9;
    const listed = [...Array(states).fill('read list*5'), ...Array(states).fill('count list')].join(', ');
    expect(await sentBy(() => store.list('s', { limit: 5 }))).toEqual([listed, 'read task', 'read fact*1']);
    const uncounted = { limit: 5, totalAtMost: 0, state: 'TASK_STATE_WORKING' } as const;
    expect((await sentBy(() => store.list('s', uncounted)))[0]).toBe('read list*5');
    expect(await sentBy(() => store.load('s', 't'))).toEqual(['read task, read snapshot, read fact']);
    expect(await sentBy(() => store.readFacts('s', 't', 0, 7))).toEqual(['read task, read fact*7']);
    expect(await sentBy(() => store.waiting('q'))).toEqual(['count ready']);
    expect(await sentBy(() => store.probe!())).toEqual(['put probe']);
    expect(await sentBy(() => store.ping())).toEqual(['read meta']);
    const rate = { burst: 2, everyMs: 1e9 };
    const taken = [];
    for (let n = 0; n < 3; n++) taken.push(...(await sentBy(() => store.take!('b', rate))));
    const [first, second, refused] = taken;
    expect([first, second]).toEqual(Array(2).fill('if bucket, put bucket, else read bucket'));
    expect(refused).toBe('if bucket, else read bucket');
  });

  it('of a list by several filters look up what the shortest list has, in parts, and count all of it', async () => {
    const { store, sentBy } = await open();
    const head = headAt(1, { labels: ['eu'] });
    const tasks = Array.from({ length: 300 }, (_, n) => `t${String(n).padStart(3, '0')}`);
    await Promise.all(tasks.map((taskId) => store.commit(chunkAfter(0, { taskId, head }))));
    const filter = { contextId: 'c', labels: ['eu'], state: 'TASK_STATE_WORKING' } as const;
    const { tasks: found, total } = await store.list('s', { ...filter, limit: 20 });
    expect(total).toBe(300);
    expect(found.map(({ taskId }) => taskId)).toEqual(tasks.toReversed().slice(0, 20));
    const readTasks = (sent: readonly string[]) =>
      sent.filter((shape) => shape.startsWith('read task')).map((shape) => shape.split(', ').length);
    expect(readTasks(await sentBy(() => store.list('s', { ...filter, limit: 20 })))).toEqual([20]);
    const bounded = { ...filter, limit: 20, bytes: 1e6 };
    expect(readTasks(await sentBy(() => store.list('s', bounded)))).toEqual([8, 8, 4]);
  });
});
