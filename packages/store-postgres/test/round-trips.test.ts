import type { Delivery, Lease } from '@batonjs/store';
import { createStore } from '@batonjs/store/adapter';
import pg from 'pg';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { chunkAfter, headAt } from '../../../test/kit/task-logs.ts';
import { postgresForTests } from '../../../test/support/postgres.ts';
import type { Database, Session } from '../src/database/database.ts';
import { poolDatabase } from '../src/database/pool-database.ts';
import { postgresRows } from '../src/postgres-store.ts';
import { emptied } from './empty.ts';

const server = await postgresForTests();
const schema = `trips_${process.pid}`;
const pool = new pg.Pool({ connectionString: server?.url, max: 4 });
afterAll(async () => {
  if (server) await pool.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
  await pool.end();
});

/** What a statement does, the tables that it names with limits and locks, and how many rows it writes or finds by arrays. */
function shapeOf(text: string, values: readonly unknown[] = []): string {
  const [verb = ''] = /\w+/.exec(text) ?? [];
  const tables = new Set([...text.matchAll(/"trips_\d+"\.(\w+)/g)].map(([, table]) => table));
  const limits = [...text.matchAll(/LIMIT (\$?)(\d+)/g)].map(
    ([, bound, n]) => `*${bound ? values[Number(n) - 1] : n}`,
  );
  const [lock] = /FOR UPDATE( SKIP LOCKED)?|pg_advisory_xact_lock/.exec(text) ?? [];
  const [keys] = values;
  const isOrdered = Array.isArray(keys) && keys.every((key, n) => n === 0 || keys[n - 1] <= key);
  const rows = Array.isArray(keys) ? [isOrdered ? `of ${keys.length}` : 'in no order'] : [];
  return [verb.toLowerCase(), ...tables, ...limits, ...(lock ? [lock] : []), ...rows].join(' ');
}

/** A database that writes down what it is asked, each string a round trip. `COMMIT` of a transaction is left out. */
function recording(database: Database) {
  const sent: string[] = [];
  const recorder: Database = {
    ...database,
    query(text, values) {
      sent.push(shapeOf(text, values));
      return database.query(text, values);
    },
    write(name, text, values) {
      sent.push(shapeOf(text, values));
      return database.write(name, text, values);
    },
    look(statements) {
      sent.push(`look: ${statements.map((text) => shapeOf(text)).join(', ')}`);
      return database.look(statements);
    },
    transact(work, opening) {
      sent.push(['begin', ...(opening ?? []).map((text) => shapeOf(text))].join(', '));
      const recorded = (session: Session): Session => ({
        query(text, values) {
          sent.push(shapeOf(text, values));
          return session.query(text, values);
        },
        queryPlanned(plan, text, values) {
          sent.push(shapeOf(text, values));
          return session.queryPlanned(plan, text, values);
        },
      });
      return database.transact((session, now, opened) => work(recorded(session), now, opened), opening);
    },
  };
  return { recorder, sent };
}

async function open({ textSearch = false, keeps = false } = {}) {
  const options = { name: 'PostgreSQL', timeoutMs: 20_000, owned: false, keepsPlans: true };
  const { recorder, sent } = recording(poolDatabase(pool, options));
  const rows = postgresRows(recorder, { schema, notify: false, textSearch, onGroup: undefined });
  const store = createStore('postgresql', rows);
  onTestFinished(() => store.close());
  await store.identity();
  if (!keeps) await pool.query(emptied(schema).join(';'));
  const sentBy = async (call: () => unknown): Promise<string[]> => {
    sent.length = 0;
    await call();
    return [...sent];
  };
  return { store, sent, sentBy };
}

const lease = { queue: 'q', holder: 'h', ttlMs: 60_000, limit: 1 };
const webhook = {
  ...{ scope: 's', taskId: 't', id: 'w', queue: 'q', cursor: 2, protocolVersion: '1.0' },
  config: { id: 'w', taskId: 't', url: 'https://hooks.example' },
};

const lock = 'begin, select tasks FOR UPDATE';
const locks = `${lock}, select webhooks FOR UPDATE`;
const tables = 'with tasks records counts facts once_keys snapshots listeners *1 *1';
const atOnce = [`${tables} of 1`];
const schedule = { concurrency: 5, perCaller: 5, perContext: 5 };

describe.skipIf(!server)('A commit', () => {
  it('of a task that is new or that this process wrote last is one statement, once the clock is known', async () => {
    const { store, sentBy } = await open();
    expect(await sentBy(() => store.commit(chunkAfter(0)))).toEqual(['look: ', ...atOnce]);
    expect(await sentBy(() => store.commit(chunkAfter(1)))).toEqual(atOnce);
    const bounded = { queue: 'bounded', want: true, waitingAtMost: 5 };
    expect(await sentBy(() => store.commit(chunkAfter(0, { taskId: 'u', turn: bounded })))).toEqual(atOnce);
    const asking = chunkAfter(0, { taskId: 'v', unlessDeleted: true });
    expect(await sentBy(() => store.commit(asking))).toEqual(atOnce);
    const together = [2, 3].map((version) => chunkAfter(version));
    const others = Array.from({ length: 9 }, (_, n) => chunkAfter(0, { taskId: `t${n}` }));
    const all = () => Promise.all([...together, ...others].map((commit) => store.commit(commit)));
    // The second of two changes of a task is decided on what the first one wrote.
    expect(await sentBy(all)).toEqual([`${tables} of 10`, ...atOnce]);
    const holder = { queue: 'q', acquire: { holder: 'h', ttlMs: 60_000 } };
    const { lease } = await store.commit(chunkAfter(4, { turn: holder }));
    expect(await sentBy(() => store.renew([lease!], 60_000))).toEqual(atOnce);
  });

  it('otherwise locks its task first, and what another process wrote meanwhile is decided again', async () => {
    const { store, sentBy } = await open();
    await store.commit(chunkAfter(0));
    const refused = () =>
      expect(store.commit(chunkAfter(0))).rejects.toMatchObject({ code: 'VERSION_CONFLICT' });
    expect(await sentBy(refused)).toEqual([locks]);
    const full = chunkAfter(1, { turn: { queue: 'q', want: true, waitingAtMost: 0 } });
    const refusedToo = () => expect(store.commit(full)).rejects.toMatchObject({ code: 'QUEUE_FULL' });
    expect(await sentBy(refusedToo)).toEqual([`${locks}, select pg_advisory_xact_lock, select counts`]);
    await store.commit(chunkAfter(1));
    const appended = { ...chunkAfter(2), expectedVersion: 'open', once: 'key', head: undefined } as const;
    expect(await sentBy(() => store.commit(appended))).toEqual([`${locks}, select once_keys`, ...atOnce]);
    const { store: other } = await open({ keeps: true });
    await other.commit(chunkAfter(3));
    const both = () =>
      Promise.all([
        expect(store.commit(chunkAfter(3))).rejects.toMatchObject({ code: 'VERSION_CONFLICT' }),
        store.commit(chunkAfter(0, { taskId: 'u' })),
      ]);
    expect(await sentBy(both)).toEqual([`${tables} of 2`, locks]);
    expect((await store.load('s', 't'))?.facts.map(({ commitId }) => commitId)).toEqual([
      ...['commit 1', 'commit 2', 'commit 3', 'commit 4'],
    ]);
    const { total } = await store.list('s', { limit: 9, totalAtMost: 9 });
    expect(total).toBe(2);
  });

  it('of a task that another process deleted meanwhile writes nothing, and renews no lease', async () => {
    const { store } = await open();
    const { store: other } = await open({ keeps: true });
    const turn = { queue: 'q', acquire: { holder: 'h', ttlMs: 60_000 } };
    const { lease } = await store.commit(chunkAfter(0, { turn }));
    const { lease: renewed } = await store.commit(chunkAfter(0, { taskId: 'u', turn }));
    for (const taskId of ['t', 'u']) {
      await other.commit(chunkAfter(1, { taskId, head: headAt(2, { closed: true }) }));
      await other.erase?.('s', taskId);
    }
    const late = store.commit(chunkAfter(1, { writer: lease }));
    await expect(late).rejects.toMatchObject({ code: 'FENCED' });
    expect(await store.renew([renewed!], 60_000)).toEqual([]);
    expect(await other.load('s', 't')).toBeUndefined();
    expect((await pool.query(`SELECT key FROM "${schema}".tasks`)).rows).toEqual([]);
  });

  it('writes its text only where texts are searched', async () => {
    const { store, sentBy } = await open({ textSearch: true });
    const commit = chunkAfter(0, { text: 'a refund' });
    expect(await sentBy(() => store.commit(commit))).toEqual([
      'look: ',
      'with tasks records counts facts once_keys snapshots task_texts listeners *1 *1 of 1',
    ]);
    expect(await sentBy(() => store.commit(chunkAfter(1)))).toEqual(atOnce);
    expect(await sentBy(() => store.list('s', { limit: 5, text: 'ref', totalAtMost: 9 }))).toEqual([
      'select task_texts *10000',
      'select counts tasks facts *1 *5 *5',
      'select tasks counts *9',
    ]);
  });

  it('reads and writes webhooks where its task has some', async () => {
    const { store, sentBy } = await open();
    await store.commit(chunkAfter(0));
    expect(await sentBy(() => store.putPushConfig(webhook))).toEqual([
      ...[locks, ...atOnce, 'insert webhooks of 1'],
    ]);
    expect(await sentBy(() => store.commit(chunkAfter(1)))).toEqual([locks, ...atOnce]);
    expect(await sentBy(() => store.commit(chunkAfter(2)))).toEqual([
      ...[locks, ...atOnce, 'insert webhooks of 1'],
    ]);
    let deliveries: readonly Delivery[] = [];
    const claimed = await sentBy(async () => {
      deliveries = await store.claimDeliveries(lease);
    });
    expect(claimed).toEqual([
      'look: select webhooks *1',
      'begin, select webhooks *1 FOR UPDATE SKIP LOCKED',
      'insert webhooks of 1',
    ]);
    expect(await sentBy(() => store.claimDeliveries(lease))).toEqual(['look: select webhooks *1']);
    expect(await sentBy(() => store.advance(deliveries[0]!, { cursor: 3 }))).toEqual([
      ...[locks, 'insert webhooks of 1'],
    ]);
    expect(await sentBy(() => store.getPushConfig('s', 't', 'w'))).toEqual([
      'look: select tasks, select webhooks',
    ]);
    expect(await sentBy(() => store.removePushConfig('s', 't', 'w'))).toEqual([
      ...[locks, ...atOnce, 'delete webhooks of 1'],
    ]);
    expect(await sentBy(() => store.listDead('q', { limit: 3 }))).toEqual(['look: select webhooks *3']);
  });
});

describe.skipIf(!server)('A claim', () => {
  const looks = Array(4).fill('select tasks *1').join(', ');
  const own = 'select tasks *1 FOR UPDATE';
  const found = [own, ...Array(3).fill('select tasks *1 FOR UPDATE SKIP LOCKED')].join(', ');

  it('looks without locks, and leaves to others what they have locked', async () => {
    const { store, sentBy } = await open();
    expect(await sentBy(() => store.claim(lease))).toEqual([`look: ${looks}`]);
    await store.commit(chunkAfter(0, { turn: { queue: 'q', want: true } }));
    let leases: readonly Lease[] = [];
    const claimed = await sentBy(async () => {
      leases = await store.claim(lease);
    });
    expect(claimed).toEqual([`look: ${looks}`, ...atOnce]);
    expect(await sentBy(() => store.renew(leases, 90_000))).toEqual(atOnce);
    const end = chunkAfter(1, {
      writer: leases[0]!,
      head: headAt(2, { closed: true, state: 'TASK_STATE_COMPLETED' }),
    });
    expect(await sentBy(() => store.commit(end))).toEqual(atOnce);
    const lookFor = (n: number) =>
      `begin, select tasks *${n} FOR UPDATE SKIP LOCKED, select records *${n} FOR UPDATE SKIP LOCKED`;
    const prune = () => store.prune({ closedBefore: '2100-01-01T00:00:00.000Z', limit: 9 });
    expect(await sentBy(prune)).toEqual([
      ...[
        lookFor(9),
        'select records FOR UPDATE',
        'with facts snapshots once_keys webhooks counts tasks of 1',
      ],
      ...['with counts FOR UPDATE SKIP LOCKED of 1', 'insert records of 1'],
      // Once more from the beginning, for logs that ended earlier and can be deleted now.
      ...[lookFor(8), lookFor(8)],
    ]);
    expect(await sentBy(prune)).toEqual([lookFor(9)]);
  });

  it('by a schedule locks the queue first, and writes the order with the turns', async () => {
    const { store, sentBy } = await open();
    const turn = { queue: 'q', want: true, aheadMs: 0 };
    await store.commit(chunkAfter(0, { turn }));
    const order = 'select queues, select tasks, with tasks callers *1 *1';
    let leases: readonly Lease[] = [];
    const claimed = await sentBy(async () => {
      leases = await store.claim({ ...lease, schedule });
    });
    expect(leases).toHaveLength(1);
    expect(claimed).toEqual([
      `look: ${order}, ${looks}`,
      'look: select tasks *1',
      `begin, select pg_advisory_xact_lock, ${order}, ${found}`,
      'select tasks *1 FOR UPDATE SKIP LOCKED',
      `${tables} of 1`,
      ...['insert queues', 'insert callers of 1', 'delete callers'],
    ]);
    const idle = { ...lease, holder: 'i', schedule };
    expect(await sentBy(() => store.claim(idle))).toEqual([`look: ${order}, ${looks}`]);
  });
});

describe.skipIf(!server)('Other calls', () => {
  it('read no more than they show, without locks', async () => {
    const { store, sentBy } = await open();
    await store.commit(chunkAfter(0, { turn: { queue: 'q', want: true } }));
    const page = 'select counts tasks facts *1 *5 *5';
    expect(await sentBy(() => store.list('s', { limit: 5 }))).toEqual([page, 'select counts']);
    expect(await sentBy(() => store.list('s', { limit: 5, totalAtMost: 0 }))).toEqual([page]);
    const inContext = { limit: 5, contextId: 'c' };
    expect(await sentBy(() => store.list('s', inContext))).toEqual([page, 'select tasks counts *null']);
    const counted = { ...inContext, totalAtMost: 7 };
    expect(await sentBy(() => store.list('s', counted))).toEqual([page, 'select tasks counts *7']);
    expect(await sentBy(() => store.load('s', 't'))).toEqual([
      'select tasks snapshots',
      'select tasks facts of 1',
    ]);
    expect(await sentBy(() => store.readFacts('s', 't', 0, 5))).toEqual(['select tasks facts of 1']);
    expect(await sentBy(() => store.waiting('q'))).toEqual(['look: select counts']);
    expect(await sentBy(() => store.measure?.('q'))).toEqual([
      `look: ${Array(3).fill('select tasks *1').join(', ')}, select webhooks *1, select counts, select counts, select tasks webhooks *1 *10000 *10000`,
    ]);
    expect(await sentBy(() => store.probe?.())).toEqual(['insert probes', 'delete probes']);
  });

  it('take from buckets together, and write those that they change', async () => {
    const { store, sentBy } = await open();
    const take = (bucket: string) => store.take!(bucket, { burst: 2, everyMs: 1e9 });
    const look = 'look: select buckets';
    for (let n = 0; n < 2; n++) expect(await sentBy(() => take('b'))).toEqual([look, 'insert buckets of 1']);
    expect(await sentBy(() => take('b'))).toEqual([look]);
    const names = Array.from({ length: 9 }, (_, n) => `bucket ${n}`);
    const several = () => Promise.all(['b', ...names, ...names].map(take));
    expect(await sentBy(several)).toEqual([look, 'insert buckets of 9']);
  });

  it('begin a sweep of buckets with every thousandth take, unless one runs', async () => {
    const { store, sent } = await open();
    const quick = { burst: 1, everyMs: 0.001 };
    const more = async () => {
      await Promise.all(Array.from({ length: 1_000 }, (_, n) => store.take!(`b${n}`, quick)));
      return sent.filter((shape) => shape === 'delete buckets *10000 FOR UPDATE SKIP LOCKED').length;
    };
    await expect.poll(more).toBeGreaterThan(1);
  });
});
