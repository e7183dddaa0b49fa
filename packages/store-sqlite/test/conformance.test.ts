import { join } from 'node:path';
import { describePushConfigStore, describeTaskStore } from '@batonjs/store-conformance';
import { afterAll, beforeAll } from 'vitest';
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

// What one store on a file does is seen with two on it as well.
const isLong = repetitions(0, 1) > 0;
for (const describeStore of [describeTaskStore, describePushConfigStore]) {
  const options = { runs: repetitions(10, 100) };
  describeStore('sqliteStore in memory', inMemory, options);
  if (isLong) describeStore('sqliteStore on a file', () => onFile(), options);
  describeStore('sqliteStore, twice on one file', twiceOnOneFile, options);
  describeStore('sqliteStore, on one file in two processes', inTwoProcesses, options);
}
