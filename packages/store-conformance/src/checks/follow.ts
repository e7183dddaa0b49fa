import assert from 'node:assert/strict';
import { follow, type StoredFact, type TaskStore } from '@batonjs/store';
import { type Bench, section } from '../check.ts';
import { within } from '../expectations.ts';
import { chunk } from '../facts.ts';
import { logOf } from '../log.ts';

/** Follows until that position, with the bell alone: the fallback timer is off. */
async function collect(
  { patienceMs }: Bench,
  store: TaskStore,
  after: number,
  until: number,
): Promise<StoredFact[]> {
  const seen: StoredFact[] = [];
  const stop = new AbortController();
  const facts = follow(store, 's', 't', after, {
    signal: stop.signal,
    lookEveryMs: Number.POSITIVE_INFINITY,
    batch: 7,
  });
  const reading = (async () => {
    for await (const fact of facts) {
      seen.push(fact);
      if (fact.version === until) break;
    }
    return seen;
  })();
  return within(4 * patienceMs, reading, `A follower did not come to position ${until}`).finally(() =>
    stop.abort(),
  );
}

export const followChecks = section('follow', {
  async 'shows every follower every fact once and in order while many write'(bench) {
    const { store, second } = bench;
    await logOf(store).create();
    const last = 2 + 60;
    const followers = [store, second, store, second].map((handle, n) =>
      collect(bench, handle, n < 2 ? 0 : 2, last),
    );
    const write = async (handle: TaskStore, writer: number) => {
      const log = logOf(handle);
      for (let n = 0; n < 15; n++) await log.append(chunk(100 * writer + n));
    };
    await Promise.all([store, second, store, second].map(write));
    const stored = await store.readFacts('s', 't', 0, 1_000);
    for (const [n, seen] of (await Promise.all(followers)).entries()) {
      assert.equal(JSON.stringify(seen), JSON.stringify(stored.slice(n < 2 ? 0 : 2)));
    }
  },

  async 'waits for a log that is not there yet'(bench) {
    const follower = collect(bench, bench.second, 0, 2);
    await logOf(bench.store).create();
    assert.deepEqual(
      (await follower).map(({ version }) => version),
      [1, 2],
    );
  },
});
