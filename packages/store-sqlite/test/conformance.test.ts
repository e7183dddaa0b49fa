import { join } from 'node:path';
import { describePushConfigStore, describeTaskStore } from '@batonjs/store-conformance';
import { runCheck, taskStoreChecks } from '@batonjs/store-conformance/checks';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { repetitions } from '../../../test/kit/repetitions.ts';
import { type Durability, sqliteStore } from '../src/index.ts';
import { newFolder, removeFolder } from './folder.ts';
import { otherProcess } from './other-process.ts';

function inMemory() {
  let time = Date.UTC(2026, 0, 1);
  const now = () => time;
  const advance = (ms: number) => {
    time += ms;
  };
  return { store: sqliteStore(':memory:', { now, monotonic: now }), now, advance };
}

function onFile(durability: Durability = 'full') {
  const folder = newFolder();
  const path = join(folder, 'tasks.db');
  const store = sqliteStore(path, { durability, textSearch: true });
  const reopen = async () => {
    await store.close();
    return sqliteStore(path);
  };
  return { path, store, reopen, dispose: () => removeFolder(folder) };
}

function twiceOnOneFile() {
  const opened = onFile('normal');
  return { ...opened, second: sqliteStore(opened.path, { durability: 'normal' }) };
}

let other: ReturnType<typeof otherProcess>;
beforeAll(() => {
  other = otherProcess();
});
afterAll(() => {
  other.child.kill();
});

async function inTwoProcesses() {
  const opened = onFile('normal');
  return { ...opened, second: await other.open(opened.path) };
}

/** What two stores in one process do otherwise than in two: they hear of each other, and take turns with the file. */
const between = ['subscribe', 'follow', 'close', 'races', 'claim', 'renew'];
// What one store on a file does, and most of what two do in one process, is seen with two processes as well.
const isLong = repetitions(0, 1) > 0;
const twice = 'sqliteStore, twice on one file';
const options = { runs: repetitions(10, 100) };
for (const describeStore of [describeTaskStore, describePushConfigStore]) {
  describeStore('sqliteStore in memory', inMemory, options);
  if (isLong) describeStore('sqliteStore on a file', () => onFile(), options);
  if (isLong) describeStore(twice, twiceOnOneFile, options);
  describeStore('sqliteStore, on one file in two processes', inTwoProcesses, options);
}
if (!isLong)
  describe(twice, () => {
    for (const check of taskStoreChecks.filter(({ section }) => between.includes(section)))
      it(`${check.section}: ${check.title}`, () => runCheck(check, twiceOnOneFile, options));
  });
