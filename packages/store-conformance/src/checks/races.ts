import assert from 'node:assert/strict';
import type { Lease } from '@batonjs/store';
import { section } from '../fixture/check.ts';
import { idsOf, same } from '../fixture/expectations.ts';
import { chunk, received } from '../samples/facts.ts';
import { logOf, present } from '../samples/log.ts';
import { acquire, claim, long, wanted } from '../samples/turns.ts';

const names = Array.from({ length: 12 }, (_, n) => `t${n}`);

const oldestFirst = (a: Lease, b: Lease): number => (a.taskId < b.taskId ? -1 : 1);

/** The checks of an adapter that reads and writes in two steps and forgets to compare what it has read. */
export const raceChecks = section('races', {
  async 'grants each lease once, and keeps it, while other handles append'({ store, second }) {
    for (const taskId of names) await logOf(store, { taskId }).create(wanted);
    const appends = names.flatMap((taskId) =>
      [1, 2, 3].map((n) => logOf(store, { taskId }).append(received(`m${n}`), `message:m${n}`, wanted)),
    );
    const claims = names.map((_, n) => claim(second, `h${n}`, { limit: 2 }));
    const racing = await Promise.all(claims);
    await Promise.all(appends);
    const rest = await claim(second, 'last', { limit: 100 });
    const leases = [...racing.flat(), ...rest].sort(oldestFirst);
    assert.deepEqual(idsOf(leases), [...names].sort(), 'Each task is claimed once while its lease lasts');
    same(await store.renew(leases, long), leases, 'Each lease that was granted is still held');
    for (const taskId of names) assert.equal((await store.load('s', taskId))?.version, 5);
  },

  async 'keeps leases while their holders write and renew, and others claim'({ store, second }) {
    const writers = names.map((taskId) => logOf(store, { taskId }));
    const leases: Lease[] = [];
    for (const log of writers) {
      const { lease } = await log.create(acquire(`h ${log.taskId}`));
      leases.push(present(lease, 'lease'));
    }
    const renewals = [second.renew(leases, long)];
    const writes = writers.map((log, n) => log.commit([chunk(1)], { writer: leases[n] }));
    renewals.push(second.renew(leases, long));
    const claims = ['a', 'b', 'c'].map((holder) => claim(second, holder, { limit: 100 }));
    await Promise.all(writes);
    for (const renewed of await Promise.all(renewals)) same(renewed, leases);
    for (const claimed of await Promise.all(claims)) same(claimed, []);
    for (const taskId of names) assert.equal((await second.load('s', taskId))?.version, 3);
  },
});
