/**
 * `pnpm bench:search --size 1000000`: a task is found by a word of its first message among many in SQLite, as the first page
 * of the inspector finds it. Prints the CPU time of a page, beside that of a page without words.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { sqliteStore } from '@batonjs/store-sqlite';
import { inspected } from '../packages/inspector/src/agents/inspected.ts';
import { storeTasks } from '../packages/inspector/src/tasks/store-tasks.ts';
import { sampleCommits } from './contenders/sample-commits.ts';

const { values } = parseArgs({ options: { size: { type: 'string', default: '1000000' } } });
const size = Number(values.size);
const words = ['invoice', 'refund', 'order', 'address', 'parcel', 'receipt', 'contract', 'offer'];
const folder = await mkdtemp(join(tmpdir(), 'baton-search-'));
const store = sqliteStore(join(folder, 'tasks.db'), { textSearch: true });
try {
  const sample = await sampleCommits('quote');
  const { scope, turn } = sample[0]!;
  const facts = sample.flatMap((commit) => commit.facts);
  const head = sample.at(-1)!.head!;
  const begin = Date.parse('2020-01-01T00:00:00.000Z');
  let next = 0;
  const fill = async () => {
    for (let n = next++; n < size; n = next++)
      await store.commit({
        scope,
        taskId: `task-${String(n).padStart(9, '0')}`,
        commitId: `commit-${n}`,
        expectedVersion: 0,
        facts,
        text: `${words[n % words.length]} number ${n} for customer ${(n * 7_919) % 10_007}`,
        head: { ...head, statusAt: new Date(begin + n * 1_000).toISOString() },
      });
  };
  await Promise.all(Array.from({ length: 256 }, fill));
  const agent = inspected({ store, name: turn?.queue ?? 'agent' }, () => false);
  const found = agent.store!;
  const source = storeTasks({ ...found, scopes: [{ ...found.scopes[0]!, scope }] });
  const page = async (text?: string) => {
    const before = process.cpuUsage();
    const { tasks } = await source.list(text === undefined ? {} : { text });
    const { user, system } = process.cpuUsage(before);
    return { tasks: tasks.length, ms: (user + system) / 1_000 };
  };
  for (const text of [undefined, `${Math.floor(size / 3)}`, 'customer 4711', 'invoice', 'no-such-word']) {
    // As a page that is opened: nothing of it is remembered for the next one.
    const { tasks, ms } = await page(text);
    process.stdout.write(`${text ?? '(no words)'}: ${tasks} tasks, ${ms.toFixed(1)} ms of the processor\n`);
  }
} finally {
  await store.close();
  await rm(folder, { recursive: true });
}
