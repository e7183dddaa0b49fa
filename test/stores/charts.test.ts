import { randomUUID } from 'node:crypto';
import type { TaskStore } from '@batonjs/store';
import { etcdStore } from '@batonjs/store-etcd';
import { postgresStore } from '@batonjs/store-postgres';
import { redisStore } from '@batonjs/store-redis';
import { sqliteStore } from '@batonjs/store-sqlite';
import { describe, expect, it } from 'vitest';
import { charted } from '../../packages/inspector/test/charts/charted.ts';
import { closedAfterTest } from '../kit/closed-after-test.ts';
import { repetitions } from '../kit/repetitions.ts';
import { etcdForTests } from '../support/etcd.ts';
import { postgresForTests } from '../support/postgres.ts';
import { redisForTests } from '../support/redis.ts';

/** The real databases are started in long runs only. */
const isLong = repetitions(0, 1) > 0;
const redis = isLong ? await redisForTests() : undefined;
const postgres = isLong ? await postgresForTests() : undefined;
const etcd = isLong ? await etcdForTests() : undefined;

const stores: readonly (readonly [name: string, isThere: boolean, open: () => TaskStore])[] = [
  ['SQLite', true, () => sqliteStore(':memory:')],
  ['Redis', redis !== undefined, () => redisStore({ url: redis!.url, prefix: randomUUID() })],
  ['PostgreSQL', postgres !== undefined, () => postgresStore(postgres!.url, { schema: `c-${randomUUID()}` })],
  ['etcd', etcd !== undefined, () => etcdStore(etcd!.urls, { prefix: `charts/${randomUUID()}` })],
];

const minute = 60_000;

describe.each(stores)('charts of an agent whose tasks are in %s', (_, isThere, open) => {
  it.skipIf(!isThere)('count several pages once, and then what changed only', async () => {
    const { charts, read, begin, change, goOn } = charted(closedAfterTest(open()), Date.now());
    for (let n = 0; n < 300; n++) {
      await begin(`t${n}`, 120 * minute);
      await change(`t${n}`, n % 3 === 0 ? 'TASK_STATE_FAILED' : 'TASK_STATE_COMPLETED', 90 * minute - n);
    }
    await begin('asks', 10 * minute);
    await change('asks', 'TASK_STATE_INPUT_REQUIRED', 5 * minute);
    await expect
      .poll(async () => {
        goOn(2_000);
        const { isReading, problem, total } = await charts.read('day');
        return { isReading, problem, ...total, p50: Math.round(total.p50! / minute / 10) };
      })
      .toMatchObject({ started: 301, ended: 300, failed: 100, waiting: 1, p50: 3, isReading: undefined });
    expect((await charts.read('hour')).total).toMatchObject({ started: 1, ended: 0, failed: 0 });
    goOn(2 * minute);
    await charts.read('day');
    const before = read.rows;
    goOn(2 * minute);
    await change('asks', 'TASK_STATE_COMPLETED');
    const { total, problem } = await charts.read('day');
    expect([total.started, total.ended, total.failed, problem]).toEqual([301, 301, 100, undefined]);
    expect(read.rows - before).toBeLessThanOrEqual(2);
  });
});
