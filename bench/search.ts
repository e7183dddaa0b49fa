/**
 * `pnpm bench:search --size 1000000 --database postgres --agents 200`: what the inspector asks of a store with many tasks. A
 * task is found by a word of its first message, as the first page of a list finds it; and the first page of all agents is
 * refreshed. Prints the CPU time of this process and of the database.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { scopeOf } from '@batonjs/server/internals';
import { postgresStore } from '@batonjs/store-postgres';
import { sqliteStore } from '@batonjs/store-sqlite';
import { Inspection } from '../packages/inspector/src/inspection.ts';
import { lookRoutes } from '../packages/inspector/src/routes/look-routes.ts';
import type { Ask } from '../packages/inspector/src/routes/route.ts';
import { sampleCommits } from './contenders/sample-commits.ts';
import { withPostgres } from './harness/contender.ts';

const { values } = parseArgs({
  options: {
    size: { type: 'string', default: '1000000' },
    database: { type: 'string', default: 'sqlite' },
    agents: { type: 'string', default: '200' },
  },
});
const [size, agents] = [Number(values.size), Number(values.agents)];
const words = ['invoice', 'refund', 'order', 'address', 'parcel', 'receipt', 'contract', 'offer'];
/** One agent has `size` tasks, which are searched; each other one has 500. */
const others = 500;
const queueOf = (n: number) => `agent-${n < size ? 0 : 1 + Math.floor((n - size) / others)}`;
const all = size + others * (agents - 1);

type Store = ReturnType<typeof sqliteStore> | ReturnType<typeof postgresStore>;

async function measure(store: Store, cpuOfDatabase: () => number): Promise<void> {
  const sample = await sampleCommits('quote');
  const facts = sample.flatMap((commit) => commit.facts);
  const head = sample.at(-1)!.head!;
  const begin = Date.parse('2020-01-01T00:00:00.000Z');
  let next = 0;
  const fill = async () => {
    for (let n = next++; n < all; n = next++)
      await store.commit({
        scope: scopeOf(queueOf(n), undefined, undefined),
        taskId: `task-${String(n).padStart(9, '0')}`,
        commitId: `commit-${n}`,
        expectedVersion: 0,
        facts,
        text: `${words[n % words.length]} number ${n} for customer ${(n * 7_919) % 10_007}`,
        head: { ...head, statusAt: new Date(begin + n * 1_000).toISOString() },
      });
  };
  await Promise.all(Array.from({ length: 256 }, fill));
  const inspection = new Inspection(
    Array.from({ length: agents }, (_, n) => ({ name: `agent-${n}`, store })),
  );
  const timed = async (what: string, work: () => Promise<string | number>) => {
    const [before, ofDatabase] = [process.cpuUsage(), cpuOfDatabase()];
    const result = await work();
    const { user, system } = process.cpuUsage(before);
    const [own, other] = [user + system, cpuOfDatabase() - ofDatabase].map((cpu) => (cpu / 1_000).toFixed(1));
    process.stdout.write(`${what}: ${result}, ${own} ms CPU here, ${other} ms in the database\n`);
  };
  const { tasks } = inspection.agents[0]!;
  const searches = [undefined, `${Math.floor(size / 3)}`, 'customer 4711', 'invoice', 'no-such-word'];
  for (const round of ['first', 'second'])
    for (const text of searches)
      await timed(`${round} time, ${text ?? '(no words)'}`, async () => {
        const list = await tasks.list(text === undefined ? {} : { text });
        return `${list.tasks.length} tasks`;
      });
  const overview = lookRoutes['GET /overview']!;
  for (let refresh = 1; refresh <= 10; refresh += 1)
    await timed(`refresh ${refresh} of ${agents} agents`, async () => {
      const counts = Object(await overview({ inspection } as Ask)) as object;
      return `${Object.keys(counts).length} rows`;
    });
  inspection.close();
}

if (values.database === 'postgres')
  await withPostgres(async ({ url, cpu }) => {
    const store = postgresStore(url, { textSearch: true });
    await measure(store, cpu);
    await store.close();
  });
else {
  const folder = await mkdtemp(join(tmpdir(), 'baton-search-'));
  const store = sqliteStore(join(folder, 'tasks.db'), { textSearch: true });
  try {
    await measure(store, () => 0);
  } finally {
    await store.close();
    await rm(folder, { recursive: true });
  }
}
