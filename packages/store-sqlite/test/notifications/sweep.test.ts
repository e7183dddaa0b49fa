import { DatabaseSync } from 'node:sqlite';
import { expect, it, onTestFinished, vi } from 'vitest';
import { sqliteStore } from '../../src/index.ts';
import { freshPath } from '../folder.ts';
import { create } from '../logs.ts';

/** Two handles on a file, in a time that goes on only when it is told to. */
function twoHandles() {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const path = freshPath();
  const [mine, theirs] = [1, 2].map(() => sqliteStore(path, { durability: 'normal' }));
  onTestFinished(async () => {
    vi.useRealTimers();
    await mine!.close();
    await theirs!.close();
  });
  return { mine: mine!, theirs: theirs!, path };
}

it('what another process adds to a task that is followed is noticed 10 ms later, and the same 10 ms after that', async () => {
  const { mine, theirs } = twoHandles();
  const notified: unknown[] = [];
  await mine.subscribe({ queue: 'q' }, () => {});
  for (const taskId of ['first', 'second'])
    await mine.subscribe({ scope: 's', taskId }, (version) => notified.push([taskId, version]));
  await create(theirs, 'first');
  vi.advanceTimersByTime(10);
  expect(notified).toEqual([['first', 1]]);
  vi.advanceTimersByTime(95);
  await create(theirs, 'second');
  vi.advanceTimersByTime(10);
  expect(notified).toEqual([
    ['first', 1],
    ['second', 1],
  ]);
});

it('subscriptions that come and go do not delay the notice of changes', async () => {
  const { mine, theirs } = twoHandles();
  const notified: unknown[] = [];
  await mine.subscribe({ scope: 's', taskId: 'followed' }, (version) => notified.push(version));
  await create(theirs, 'followed');
  for (let n = 0; n < 5; n++) {
    const unsubscribe = await mine.subscribe({ scope: 's', taskId: `other ${n}` }, () => {});
    vi.advanceTimersByTime(4);
    await unsubscribe();
  }
  expect(notified).toEqual([1]);
});

it('a process that follows no task any more looks for changes every 25 ms', async () => {
  const { mine, theirs } = twoHandles();
  let notified = 0;
  await mine.subscribe({ queue: 'q' }, () => notified++);
  const unsubscribe = await mine.subscribe({ scope: 's', taskId: 'followed' }, () => {});
  await unsubscribe();
  await unsubscribe();
  vi.advanceTimersByTime(10);
  expect(vi.getTimerCount()).toBe(1);
  await create(theirs, 'waiting', { turn: { queue: 'q', want: true } });
  vi.advanceTimersByTime(24);
  expect(notified).toBe(0);
  vi.advanceTimersByTime(1);
  expect(notified).toBe(1);

  // Once more a task: changes are noticed after 10 ms again.
  vi.advanceTimersByTime(95);
  await mine.subscribe({ scope: 's', taskId: 'followed' }, () => notified++);
  vi.advanceTimersByTime(10);
  await create(theirs, 'followed');
  vi.advanceTimersByTime(10);
  expect(notified).toBe(2);
});

it('a file that fails at that moment is looked at again, and nothing is lost', async () => {
  const { mine, theirs, path } = twoHandles();
  const notified: unknown[] = [];
  await mine.subscribe({ scope: 's', taskId: 'followed' }, (version) => notified.push(version));
  await create(theirs, 'followed');
  const other = new DatabaseSync(path);
  onTestFinished(() => other.close());
  other.exec('ALTER TABLE changes RENAME TO away');
  vi.advanceTimersByTime(10);
  expect(notified).toEqual([]);
  other.exec('ALTER TABLE away RENAME TO changes');
  vi.advanceTimersByTime(10);
  expect(notified).toEqual([1]);
});
