import { memoryStore } from '@batonjs/store-memory';
import { expect, it } from 'vitest';
import { chunkAfter } from '../../../../../test/kit/task-logs.ts';
import { pinnedVersions, versionsOf } from '../../../src/base/store/versions.ts';
import { systemClock } from '../../../src/base/timing/clock.ts';

/** A process of a version, on a clock that the test moves. */
function process(store = memoryStore(), version = 'new') {
  let now = 0;
  const lines: string[] = [];
  const versions = pinnedVersions(
    { queue: 'q', version, deploys: 'pinned' },
    {
      store,
      clock: { ...systemClock, monotonic: () => now },
      logger: (_level, line) => void lines.push(line),
    },
  );
  const pass = (ms: number) => {
    now += ms;
  };
  return { store, versions, guarded: versions.guard(store), pass, lines };
}

/** A task whose turn began at a version and waits to go on. */
const pinnedTo = (version: string, taskId: string) =>
  chunkAfter(0, { taskId, turn: { queue: 'q', want: true, version } });

it('a version is remembered before the first turn is pinned to it, also by a process that never claimed', async () => {
  const { store, guarded } = process();
  await guarded.commit(chunkAfter(0, { taskId: 'plain', turn: { queue: 'q', want: true } }));
  expect(await versionsOf(store, 'q')).toEqual([]);
  await guarded.commit(pinnedTo('new', 't'));
  expect(await versionsOf(store, 'q')).toEqual(['new']);
  const failing = process({ ...store, putRecord: () => Promise.reject(new Error('away')) }, 'newer');
  await expect(failing.guarded.commit(pinnedTo('newer', 't2'))).rejects.toThrow('away');
  expect(await store.load('s', 't2')).toBeUndefined();
});

it('the latest hundred versions of a queue are remembered, each once', async () => {
  const { store } = process();
  for (let n = 0; n < 102; n += 1) {
    const { guarded } = process(store, `v${n}`);
    await guarded.claim({ queue: 'q', holder: 'h', ttlMs: 1, limit: 1 });
  }
  await process(store, 'v7').guarded.claim({ queue: 'q', holder: 'h', ttlMs: 1, limit: 1 });
  const known = await versionsOf(store, 'q');
  expect([known.length, known[0], known.at(-1)]).toEqual([100, 'v2', 'v101']);
  expect(await versionsOf(store, 'other')).toEqual([]);
});

it('only tasks that waited for another version at two looks are unserved, and they are logged', async () => {
  const { store, versions, pass, lines } = process();
  await process(store, 'old').guarded.commit(pinnedTo('old', 'first'));
  expect(await versions.unserved()).toEqual([]);
  await store.commit(pinnedTo('old', 'second'));
  pass(999);
  // Not a second look yet.
  expect(await versions.unserved()).toEqual([]);
  pass(1);
  const tasks = [{ scope: 's', taskId: 'first' }];
  expect(await versions.unserved()).toEqual([{ version: 'old', tasks }]);
  expect(lines).toEqual(['1 task waits for version "old"']);
  pass(1_000);
  expect(await versions.unserved()).toMatchObject([{ tasks: [{}, {}] }]);
});
