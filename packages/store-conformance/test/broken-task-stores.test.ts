import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it } from 'vitest';
import { type Opened, runCheck } from '../src/bench/check.ts';
import { taskStoreChecks } from '../src/checks/task-store.ts';
import { brokenTaskStores } from './broken-task-stores.ts';

const options = { timeoutMs: 60, runs: 60, seed: 1 };

/** The titles of the checks of a section that fail. */
async function failures(section: string, open: () => Opened): Promise<string[]> {
  const failed: string[] = [];
  for (const check of taskStoreChecks.filter((one) => one.section === section)) {
    const passed = await runCheck(check, open, options).then(
      () => true,
      () => false,
    );
    if (!passed) failed.push(check.title);
  }
  return failed;
}

describe('the suite', () => {
  it.each([...new Set(taskStoreChecks.map(({ section }) => section))])(
    'has nothing against a store that keeps to "%s"',
    async (section) => {
      expect(await failures(section, () => ({ store: memoryStore() }))).toEqual([]);
    },
  );

  it.each(brokenTaskStores)('rejects a store that $fault', async ({ section, open, onlySecond }) => {
    const failed = await failures(section, () => {
      const store = memoryStore();
      return onlySecond ? { store, second: open(store) } : { store: open(store) };
    });
    expect(failed).not.toEqual([]);
  });

  it('says each thing once', () => {
    const titles = taskStoreChecks.map(({ section, title }) => `${section}: ${title}`);
    expect(new Set(titles).size).toBe(titles.length);
  });
});
