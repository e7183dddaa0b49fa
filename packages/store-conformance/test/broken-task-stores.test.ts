import type { TaskStore } from '@batonjs/store';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it } from 'vitest';
import { sabotage } from '../../../test/histories/faults.ts';
import { taskStoreChecks } from '../src/checks/task-store.ts';
import { type Opened, runCheck } from '../src/fixture/check.ts';
import { override } from '../src/fixture/expectations.ts';
import { brokenTaskStores } from './broken-task-stores.ts';

/** How long a notification is waited for that a broken store never sends. */
const options = { timeoutMs: 60, runs: 60, seed: 1 };
/** A good store sends it, however busy the machine is. */
const patient = { ...options, timeoutMs: 30_000 };

/** A store in memory, whose clock the checks move: none waits until a lease is over. */
function opened(use: (store: TaskStore, now: () => number) => Partial<Opened> = () => ({})): Opened {
  let time = Date.UTC(2026, 0, 1);
  const now = () => time;
  const advance = (ms: number) => {
    time += ms;
  };
  const store = memoryStore({ now, monotonic: now });
  return { store, now, advance, ...use(store, now) };
}

/** The title of the first check of a section that fails. */
async function failure(section: string, open: () => Opened, asked = options): Promise<string | undefined> {
  for (const check of taskStoreChecks.filter((one) => one.section === section)) {
    const passed = await runCheck(check, open, asked).then(
      () => true,
      () => false,
    );
    if (!passed) return check.title;
  }
  return undefined;
}

/** The store with many notifications more: of every subscriber, before and after every commit. */
function noisy(store: TaskStore): TaskStore {
  const subscribers = new Set<() => void>();
  const notifyAll = () => {
    for (const notify of subscribers) queueMicrotask(notify);
  };
  return override(store, {
    async subscribe(topic, notify) {
      const subscriber = () => notify();
      subscribers.add(subscriber);
      const unsubscribe = await store.subscribe(topic, notify);
      return () => {
        subscribers.delete(subscriber);
        return unsubscribe();
      };
    },
    async commit(commit) {
      notifyAll();
      try {
        return await store.commit(commit);
      } finally {
        notifyAll();
        setImmediate(notifyAll);
      }
    },
  });
}

describe('the suite', () => {
  it.each([...new Set(taskStoreChecks.map(({ section }) => section))])(
    'has nothing against a store that keeps to "%s"',
    async (section) => {
      expect(await failure(section, opened, patient)).toBeUndefined();
    },
  );

  it.each(['subscribe', 'follow', 'ids'])(
    'has nothing against a store that notifies too often: before a commit, after it, and of others (%s)',
    async (section) => {
      const open = () => opened((store) => ({ store: noisy(store) }));
      expect(await failure(section, open, patient)).toBeUndefined();
    },
  );

  it('says of what a subscriber was not notified, and where it was waited for', async () => {
    const check = taskStoreChecks.find(({ title }) => title === 'notifies after a commit to the task')!;
    const open = () => ({ store: sabotage(memoryStore(), 'notification') });
    const error = await runCheck(check, open, options).catch((thrown: Error) => thrown);
    expect(error).toMatchObject({
      message: expect.stringMatching(/was not notified of the first commit within 60 ms$/),
      stack: expect.stringContaining('subscribe.ts'),
    });
  });

  it('escapes what cannot be seen in its messages', async () => {
    const run = async () => expect.fail('task "\ufeff" and "\u202e😀"');
    const check = { section: 'none', title: 'none', run };
    await expect(runCheck(check, () => ({ store: memoryStore() }))).rejects.toThrow(
      'task "\\ufeff" and "\\u202e\\ud83d\\ude00"',
    );
  });

  it.each(brokenTaskStores)('rejects a store that $fault', async ({ section, open, onlySecond }) => {
    const use = (store: TaskStore, now: () => number) => ({
      [onlySecond ? 'second' : 'store']: open(store, now),
    });
    expect(await failure(section, () => opened(use))).toBeDefined();
  });

  it('says each thing once', () => {
    const titles = taskStoreChecks.map(({ section, title }) => `${section}: ${title}`);
    expect(new Set(titles).size).toBe(titles.length);
  });
});
