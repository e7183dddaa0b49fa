import { writeSync } from 'node:fs';
import type { Durability } from '../../src/index.ts';
import { sqliteStore } from '../../src/index.ts';
import { chunk, commitOf, create } from '../logs.ts';

// Eight writers append to eight logs as fast as they can and print each acknowledged position, until they are killed.

const [path, durability] = process.argv.slice(2) as [string, Durability];
const store = sqliteStore(path, { durability });

async function write(taskId: string): Promise<void> {
  let { version } = await create(store, taskId);
  for (;;) {
    writeSync(1, `${taskId} ${version}\n`);
    version = (await store.commit(commitOf(taskId, version, [chunk(version), chunk(version)]))).version;
  }
}

await Promise.all(Array.from({ length: 8 }, (_, n) => write(`t${n}`)));
