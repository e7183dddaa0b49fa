import type { StoredFact, TaskStore } from '@batonjs/store';
import { override } from '../../faults/sabotage.ts';
import { type Fixture, section } from '../../fixture/check.ts';
import { each, same, within } from '../../fixture/expectations.ts';
import { follow } from '../../fixture/follow.ts';
import { chunk } from '../../samples/facts.ts';
import { logOf } from '../../samples/log.ts';

/** Follows by notifications alone until that position. */
async function collect(
  { timeoutMs }: Fixture,
  store: TaskStore,
  after: number,
  until: number,
): Promise<StoredFact[]> {
  const seen: StoredFact[] = [];
  const stop = new AbortController();
  const facts = follow(store, 's', 't', after, {
    signal: stop.signal,
    batch: 7,
  });
  const reading = (async () => {
    for await (const fact of facts) {
      seen.push(fact);
      if (fact.version === until) break;
    }
    return seen;
  })();
  return within(4 * timeoutMs, reading, `A follower did not come to position ${until}`).finally(() =>
    stop.abort(),
  );
}

export const followChecks = section('follow', {
  async 'shows every follower every fact once and in order while many write'(fixture) {
    const { store, second } = fixture;
    await logOf(store).create();
    const last = 2 + 60;
    const followers = [store, second, store, second].map((handle, n) =>
      collect(fixture, handle, n < 2 ? 0 : 2, last),
    );
    const write = async (handle: TaskStore, writer: number) => {
      const log = logOf(handle);
      for (let n = 0; n < 15; n++) await log.append(chunk(100 * writer + n));
    };
    const [seen] = await Promise.all([Promise.all(followers), ...[store, second, store, second].map(write)]);
    const stored = await store.readFacts('s', 't', 0, 1_000);
    for (const [n, facts] of seen.entries()) same(facts, stored.slice(n < 2 ? 0 : 2));
  },

  async 'notifies a follower of every commit, the first of a log too'(fixture) {
    const { store, second, timeoutMs } = fixture;
    const log = logOf(store);
    const { noticing, idle } = noticingIdle(second);
    const commits = async () => {
      for (let n = 0; n < 4; n++) {
        await within(timeoutMs, idle(2 * n), 'A follower did not read on');
        if (n === 0) await log.create();
        else await log.commit([chunk(2 * n - 1), chunk(2 * n)]);
      }
    };
    const [seen] = await Promise.all([collect(fixture, noticing, 0, 8), commits()]);
    same(each(seen, 'version'), [1, 2, 3, 4, 5, 6, 7, 8]);
  },
});

/** A store, and a promise for each position that resolves once a reader found no facts after it. */
function noticingIdle(store: TaskStore) {
  const moments = new Map<number, PromiseWithResolvers<void>>();
  const moment = (position: number) => {
    const known = moments.get(position) ?? Promise.withResolvers<void>();
    moments.set(position, known);
    return known;
  };
  const noticing = override(store, {
    async readFacts(scope, taskId, after, limit) {
      const facts = await store.readFacts(scope, taskId, after, limit);
      if (facts.length === 0) moment(after).resolve();
      return facts;
    },
  });
  return { noticing, idle: (position: number) => moment(position).promise };
}
