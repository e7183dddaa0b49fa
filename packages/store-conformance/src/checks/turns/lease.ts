import assert from 'node:assert/strict';
import type { Lease } from '@batonjs/store';
import { section } from '../../fixture/check.ts';
import { elapse, eventually, idsOf, refuses, same } from '../../fixture/expectations.ts';
import { chunk, completed, received, working } from '../../samples/facts.ts';
import { type Log, logOf, present } from '../../samples/log.ts';
import { acquire, claim, dueAfter, lease, long, release, wanted, writer } from '../../samples/turns.ts';

export const leaseChecks = section('a lease', {
  async 'comes with a commit that asks for it while no process holds the task'({ store }) {
    const log = logOf(store);
    same(await log.create(acquire('a')), { version: 2, lease: lease('a', 1, 'committed') });
  },

  async 'is not granted by a commit while it is held, even if its time is up'(fixture) {
    const log = await logOf(fixture.store).started(acquire('a', 5));
    assert.equal((await log.commit([chunk(1)], acquire('b'))).lease, undefined);
    await elapse(fixture, 10);
    assert.equal((await log.commit([chunk(2)], acquire('b'))).lease, undefined);
    same(await log.commit([chunk(3)], writer('a')), { version: 5 });
  },

  async 'clears what was wanted'({ store }) {
    const log = await logOf(store).started(wanted);
    assert.equal(await store.waiting('q'), 1);
    await log.commit([chunk(1)], acquire('a'));
    assert.equal(await store.waiting('q'), 0);
  },

  async 'lets its holder write, and refuses a wrong fence or holder'({ store, second }) {
    const log = await logOf(store).started(acquire('a'));
    const before = await log.load();
    await refuses('FENCED', log.commit([chunk(1)], writer('a', 2)));
    await refuses('FENCED', log.commit([chunk(1)], writer('a', 0)));
    await refuses('FENCED', log.commit([chunk(1)], writer('b')));
    await refuses('FENCED', second.commit(log.prepare([chunk(1)], writer('A'))));
    same(await log.load(), before);
    same(await log.commit([chunk(1)], writer('a')), { version: 3 });
  },

  async 'can be read: its fence, its holder, and whether a turn is wanted'({ store, second }) {
    const read = async () => store.lease && [await store.lease('s', 't'), await second.lease?.('s', 't')];
    const twice = (value: unknown) => store.lease && [value, value];
    same(await read(), twice(undefined));
    const log = await logOf(store).started(wanted);
    same(await read(), twice({ fence: 0, isWanted: true }));
    await log.commit([chunk(1)], acquire('a'));
    same(await read(), twice({ fence: 1, holder: 'a', isWanted: false }));
    await log.commit([chunk(2)], release(true));
    same(await read(), twice({ fence: 1, isWanted: true }));
    same(await store.lease?.('other', 't'), undefined);
  },

  async 'is needed by a write that names one'({ store }) {
    const log = logOf(store);
    await refuses('FENCED', log.create(writer('a')));
    await log.create();
    await refuses('FENCED', log.commit([chunk(1)], writer('a')));
    await refuses('FENCED', log.commit([chunk(1)], writer('a', 0)));
  },

  async 'does not keep out those who write without one'({ store }) {
    const log = await logOf(store).started(acquire('a'));
    same(await log.commit([chunk(1)]), { version: 3 });
  },

  async 'is given back by its release: a late write is fenced'({ store }) {
    const log = await logOf(store).started(acquire('a'));
    same(await log.commit([], { ...release(), ...writer('a') }), { version: 2 });
    await refuses('FENCED', log.commit([chunk(1)], writer('a')));
    same(await store.renew([lease('a', 1, 'committed')], long), []);
    same((await log.load()).version, 2);
  },

  async 'is given back by the release that comes with facts'({ store }) {
    const log = await logOf(store).started(acquire('a'));
    same(await log.commit([working()], { ...release(), ...writer('a') }), { version: 3 });
    await refuses('FENCED', log.commit([chunk(1)], writer('a')));
  },

  async 'is not given back by a release that has not seen the whole log'({ store }) {
    const log = await logOf(store).started(acquire('a'));
    await log.append(received('m2'), 'message:m2', wanted);
    await refuses('VERSION_CONFLICT', log.commit([], { ...release(), ...writer('a') }));
    same(await store.renew([lease('a', 1, 'committed')], long), [lease('a', 1, 'committed')]);
    await log.catchUp();
    await log.commit([], { ...release(true), ...writer('a') });
    assert.equal(await store.waiting('q'), 1);
  },

  async 'leaves behind only what its release says is wanted'({ store }) {
    const log = await logOf(store).started(acquire('a'));
    await log.commit([chunk(1)], wanted);
    same(await claim(store, 'b'), []);
    await log.commit([], { ...release(), ...writer('a') });
    assert.equal(await store.waiting('q'), 0);
    same(await claim(store, 'b'), []);
    await log.commit([chunk(2)], acquire('c'));
    await log.commit([], { ...release(true), ...writer('c', 2) });
    same(await claim(store, 'd'), [lease('d', 3, 'wanted')]);
  },

  async 'leaves behind the time at which its release says that the task is due, with facts or without'(
    fixture,
  ) {
    const { store, now } = fixture;
    const log = await logOf(store).started(acquire('a'));
    await log.commit([], { ...release(), ...writer('a'), ...dueAfter(log, [], now() + 3_600_000) });
    same(await claim(store, 'b'), []);
    same((await log.load()).head, log.head);
    await log.commit([chunk(1)], acquire('b'));
    await log.commit([], { ...release(), ...writer('b', 2), ...dueAfter(log, [], now() - 1_000) });
    same(await claim(store, 'c'), [lease('c', 3, 'due')]);
  },

  async 'has a larger fence than every lease of the task before it'({ store, reopen }) {
    const log = await logOf(store).started(acquire('a'));
    await log.commit([], { ...release(), ...writer('a') });
    same((await log.commit([chunk(1)], acquire('a'))).lease, lease('a', 2, 'committed'));
    await refuses('FENCED', log.commit([chunk(2)], writer('a')));
    const again = await reopen();
    await again.commit(log.prepare([], { ...release(true), ...writer('a', 2) }));
    same(await claim(again, 'b'), [lease('b', 3, 'wanted')]);
  },

  async 'is not lost by time alone'(fixture) {
    const { store } = fixture;
    const log = await logOf(store).started(acquire('a', 5));
    await elapse(fixture, 10);
    same(await log.commit([chunk(1)], writer('a')), { version: 3 });
    const held = lease('a', 1, 'committed');
    same(await store.renew([held], long), [held]);
    same(await claim(store, 'b'), []);
  },

  async 'is lost to a claim after its time'(fixture) {
    const { store, second } = fixture;
    const log = await logOf(store).started(acquire('a', 5));
    await elapse(fixture, 10);
    const claimed = async () => (await claim(second, 'b'))[0];
    same(await eventually(fixture, claimed, 'The task could not be claimed'), lease('b', 2, 'expired'));
    await refuses('FENCED', log.commit([chunk(1)], writer('a')));
    await refuses('FENCED', log.commit([], { ...release(), ...writer('a') }));
    same(await store.renew([lease('a', 1, 'committed')], long), []);
    same(await log.commit([chunk(1)], writer('b', 2)), { version: 3 });
    same(await claim(store, 'a'), []);
    same(await store.renew([lease('b', 2, 'expired')], long), [lease('b', 2, 'expired')]);
  },

  async 'ends with the log'({ store }) {
    const log = await logOf(store).started(acquire('a'));
    await log.commit([chunk(1)], wanted);
    await log.commit([completed()], writer('a'));
    same(await store.renew([lease('a', 1, 'committed')], long), []);
    assert.equal(await store.waiting('q'), 0);
    same(await claim(store, 'a'), []);
    same(await claim(store, 'b'), []);
  },

  async 'is not given out by the commit that closes the log'({ store }) {
    same(await logOf(store).commit([received(), completed()], acquire('a')), { version: 2 });
  },
});

/** Creates the task of a log with a lease. */
async function held(log: Log, ttlMs = long): Promise<Lease> {
  const { lease } = await log.create(acquire(`of ${log.taskId}`, ttlMs));
  return present(lease, 'lease');
}

export const renewChecks = section('renew', {
  async 'resolves to those that are still held'({ store }) {
    const closed = logOf(store, { taskId: 'b' });
    const released = logOf(store, { taskId: 'c' });
    const a = await held(logOf(store, { taskId: 'a' }));
    const b = await held(closed);
    const c = await held(released);
    const d = await held(logOf(store, { taskId: 'd' }));
    await closed.commit([completed()]);
    await released.commit([], { ...release(), writer: c });
    const stale = { ...a, fence: a.fence + 1 };
    const stranger = { ...d, holder: 'another holder' };
    const missing = { ...a, scope: 'elsewhere' };
    same(await store.renew([a, b, c, d, stale, stranger, missing], long), [a, d]);
    same(await store.renew([], long), []);
  },

  async 'resolves to them in the order given, and to one that was given twice twice'({ store }) {
    const a = await held(logOf(store, { taskId: 'a' }));
    const b = await held(logOf(store, { taskId: 'b' }));
    const c = await held(logOf(store, { taskId: 'c' }));
    const gone = { ...b, fence: 7 };
    same(await store.renew([c, a, gone, { ...c }, gone, b, a], long), [c, a, c, b, a]);
  },

  async 'keeps a lease alive for that long'(fixture) {
    const { store, second } = fixture;
    const kept = await held(logOf(store), 200);
    assert.equal((await second.renew([kept], long)).length, 1);
    await elapse(fixture, 250);
    same(await claim(store, 'b'), []);
  },

  async 'can also shorten it'(fixture) {
    const { store } = fixture;
    const kept = await held(logOf(store));
    await store.renew([kept], 5);
    await elapse(fixture, 10);
    const [taken] = await claim(store, 'b');
    assert.equal(taken?.cause, 'expired');
  },
});

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
