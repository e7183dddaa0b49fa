import { follow, type StoredFact, type TaskStore } from '@batonjs/store';
import { type Bench, section } from '../bench/check.ts';
import { same, within } from '../bench/expectations.ts';
import { override } from '../faults/override.ts';
import { chunk } from '../samples/facts.ts';
import { logOf } from '../samples/log.ts';

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
    const [seen] = await Promise.all([Promise.all(followers), ...[store, second, store, second].map(write)]);
    const stored = await store.readFacts('s', 't', 0, 1_000);
    for (const [n, facts] of seen.entries()) same(facts, stored.slice(n < 2 ? 0 : 2));
  },

  async 'is woken by every commit, the first of a log too'(bench) {
    const { store, second, patienceMs } = bench;
    const log = logOf(store);
    const { sleeper, asleep } = awareOfSleep(second);
    const commits = async () => {
      for (let n = 0; n < 4; n++) {
        await within(patienceMs, asleep(2 * n), 'A follower did not look for more');
        if (n === 0) await log.create();
        else await log.commit([chunk(2 * n - 1), chunk(2 * n)]);
      }
    };
    const [seen] = await Promise.all([collect(bench, sleeper, 0, 8), commits()]);
    same(
      seen.map(({ version }) => version),
      [1, 2, 3, 4, 5, 6, 7, 8],
    );
  },
});

/** A store that tells when somebody looked for facts after a position and found none. */
function awareOfSleep(store: TaskStore) {
  const moments = new Map<number, PromiseWithResolvers<void>>();
  const moment = (position: number) => {
    const known = moments.get(position) ?? Promise.withResolvers<void>();
    moments.set(position, known);
    return known;
  };
  const sleeper = override(store, {
    async readFacts(scope, taskId, after, limit) {
      const facts = await store.readFacts(scope, taskId, after, limit);
      if (facts.length === 0) moment(after).resolve();
      return facts;
    },
  });
  return { sleeper, asleep: (position: number) => moment(position).promise };
}
