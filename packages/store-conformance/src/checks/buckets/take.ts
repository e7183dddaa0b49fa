import assert from 'node:assert/strict';
import type { Rate, TaskStore } from '@batonjs/store';
import { section } from '../../fixture/check.ts';
import { elapse } from '../../fixture/expectations.ts';
import { oddIds } from '../../samples/facts.ts';
import { present } from '../../samples/log.ts';

/** Buckets that fill so slowly that none is added while a check runs. */
const slow = (burst: number): Rate => ({ burst, everyMs: 3_600_000 });

/** Takes one and says how long it would have to wait for it; 0: it has one. */
async function take(store: TaskStore, rate: Rate, bucket = 'b'): Promise<number> {
  const waitMs = await present(store.take, 'method take').call(store, bucket, rate);
  assert.ok(Number.isFinite(waitMs) && waitMs >= 0, `take resolved to ${waitMs}`);
  return waitMs;
}

/** Takes until the bucket refuses, and says how many it gave. */
async function takeAll(store: TaskStore, rate: Rate, bucket?: string): Promise<number> {
  for (let count = 0; ; count++) {
    if ((await take(store, rate, bucket)) > 0) return count;
    assert.ok(count <= rate.burst, 'gives more than the burst');
  }
}

/** The checks of stores whose buckets all processes share. */
export const takeChecks = section(
  'take',
  {
    async 'gives as many at once as the burst, and not one more'({ store }) {
      for (const burst of [1, 2, 7]) assert.equal(await takeAll(store, slow(burst), `of ${burst}`), burst);
    },

    async 'gives the whole burst where the rate is a fraction of a millisecond'({ store }) {
      assert.equal(await takeAll(store, { burst: 3, everyMs: 10_000_000 / 3 }), 3);
    },

    async 'says for how long it has none, and has one then'(fixture) {
      const rate = { burst: 2, everyMs: 60 };
      await take(fixture.store, slow(2));
      await take(fixture.store, slow(2));
      // By the new rate the bucket is empty, and not as long as by the old one.
      const waitMs = await take(fixture.store, rate);
      assert.ok(waitMs > 0 && waitMs <= rate.everyMs, `waits ${waitMs} of ${rate.everyMs} ms`);
      await elapse(fixture, Math.ceil(waitMs) + 1);
      assert.equal(await take(fixture.store, rate), 0);
    },

    async 'is full again after a while, and holds no more than the burst'(fixture) {
      const rate = { burst: 3, everyMs: 5 };
      for (let n = 0; n < 50 && (await take(fixture.store, rate)) === 0; n++);
      await elapse(fixture, 60);
      assert.equal(await takeAll(fixture.store, slow(3)), 3);
    },

    async 'takes nothing where it refuses'({ store }) {
      const rate = slow(1);
      await take(store, rate);
      const first = await take(store, rate);
      for (let n = 0; n < 5; n++) await take(store, rate);
      assert.ok((await take(store, rate)) <= first, 'a refusal makes the wait longer');
    },

    async 'gives no more than the burst to handles that race'({ store, second }) {
      const racing = Array.from({ length: 30 }, (_, n) => take(n % 2 ? store : second, slow(10)));
      const given = (await Promise.all(racing)).filter((waitMs) => waitMs === 0);
      assert.equal(given.length, 10);
      for (const handle of [store, second]) assert.ok((await take(handle, slow(10))) > 0);
    },

    async 'knows after a restart what was taken'({ store, reopen }) {
      assert.equal(await takeAll(store, slow(2)), 2);
      assert.ok((await take(await reopen(), slow(2))) > 0, 'is full after a restart');
    },

    async 'keeps buckets apart, whatever their names'({ store }) {
      for (const name of oddIds) assert.equal(await take(store, slow(1), name), 0, `of ${name}`);
      for (const name of oddIds) assert.ok((await take(store, slow(1), name)) > 0, `of ${name}`);
    },
  },
  ({ take }) => take,
);
