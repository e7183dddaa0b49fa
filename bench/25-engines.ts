import type { EngineOptions, EngineProgram } from './contenders/engines/engine.ts';
import { installEngines, versionsIn } from './engines/installed.ts';
import { enginePlaces, type PlaceName, withCountingPostgres } from './engines/places.ts';
import { type Cell, cells, type Row, rowName, tablesOf, unitOf } from './engines/tables.ts';
import type { Benchmark, Measured, RunOptions } from './harness/benchmark.ts';
import { alternate, type Compared, ratiosOf, Values } from './harness/measure.ts';
import { cpuOfTree, writtenByTree } from './harness/process-cpu.ts';
import { Worker } from './harness/worker.ts';

const stores: readonly PlaceName[] = ['memory', 'sqlite', 'postgres', 'redis', 'etcd'];
const rows: readonly Row[] = [
  ...stores.map((place) => ({ contender: 'baton', place }) as const),
  { contender: 'dbos', place: 'postgres' },
  { contender: 'openworkflow', place: 'postgres' },
  { contender: 'pg-boss', place: 'postgres' },
  { contender: 'restate', place: 'restate' },
];

/** Those that go on with a task whose process was killed in its second step, once it is started again. */
const recovering: readonly Row[] = [
  { contender: 'baton', place: 'postgres' },
  { contender: 'baton', place: 'sqlite' },
  { contender: 'baton', place: 'postgres', lease: 2_000 },
  { contender: 'dbos', place: 'postgres' },
  { contender: 'restate', place: 'restate' },
];

/** Baton on PostgreSQL beside each of the others. */
const compared = rows
  .filter(({ contender }) => contender !== 'baton')
  .flatMap((row) =>
    (['CPU', 'p50'] as const).flatMap((what) =>
      cells.filter(({ stepMs }) => stepMs === 0).map((cell) => ({ row, what, cell })),
    ),
  );
const nameOf = ({ row, what, cell }: (typeof compared)[number]) =>
  `baton / ${row.contender}, ${what} a task, ${cell.atATime} at a time`;

/**
 * A task of three recorded steps whose result is awaited, in Baton and in what a user would take instead. CPU time is that
 * of all processes: of the caller, which is the worker too, and of the database or the server.
 */
export const benchmark: Benchmark = {
  number: 25,
  name: 'engines',
  mostRuns: 3,
  isLong: true,
  work: 'a task of three recorded steps and an awaited result, beside other engines, each store (`--store`)',
  goals: [
    { ratio: 'baton / dbos, CPU a task, 1 at a time', atMost: 0.6 },
    { ratio: 'baton / dbos, p50 a task, 1 at a time', atMost: 0.6 },
    { ratio: 'baton / dbos, CPU a task, 16 at a time', atMost: 0.35 },
  ],
  run,
};

async function run({ runs, short, store: only }: RunOptions): Promise<Measured> {
  const values = new Values();
  // A short run needs nothing that is not there.
  const engines = short ? undefined : await installEngines();
  if (engines) process.stdout.write(`${JSON.stringify(versionsIn(engines))}\n`);
  const isChosen = ({ contender, place }: Row) =>
    (only === undefined || only === place) && (!short || contender === 'baton');
  const start = ({ contender }: Row, options: EngineOptions) =>
    Worker.start<EngineProgram>(`contenders/engines/${contender}.ts`, options);

  /** A part of a measurement for so many milliseconds. */
  const lengthOf = ({ atATime, stepMs }: Cell): number => {
    if (short) return 100;
    return stepMs > 0 && atATime === 1 ? 4_000 : 2_000;
  };

  const measure = (row: Row) =>
    enginePlaces[row.place](engines, async ({ options, pid: server = 0 }) => {
      const worker = await start(row, options);
      const own = await worker.ask('pid');
      const used = async () => ({
        cpu: (await worker.ask('cpu')) + (cpuOfTree(server) ?? 0),
        written: (writtenByTree(server) ?? 0) + (writtenByTree(own) ?? 0),
      });
      // Many at a time come first: a second of one at a time leaves a program cold.
      for (const [atATime, forMs] of [
        [64, 10_000],
        [1, 1_000],
      ] as const)
        await worker.ask('drive', { forMs: short ? 50 : forMs, atATime, stepMs: 0 });
      for (const cell of short ? cells.filter(({ stepMs }) => stepMs === 0) : cells) {
        const before = await used();
        const { tasks, ms, p50, p99 } = await worker.ask('drive', { forMs: lengthOf(cell), ...cell });
        const after = await used();
        const add = (figure: Parameters<typeof unitOf>[0], value: number) =>
          values.add(row.contender, unitOf(figure, row, cell), value);
        add('CPU', (after.cpu - before.cpu) / 1_000 / tasks);
        add('KB', (after.written - before.written) / 1_024 / tasks);
        add('tasks/s', (tasks / ms) * 1_000);
        add('p50', p50);
        add('p99', p99);
      }
      await worker.stop();
    });

  const count = (row: Row) =>
    withCountingPostgres(engines, async (options, counted) => {
      const worker = await start(row, options);
      const drive = { forMs: short ? 100 : 2_000, atATime: 1, stepMs: 0 };
      await worker.ask('drive', drive);
      const before = await counted();
      const { tasks } = await worker.ask('drive', drive);
      const { statements, wal } = await counted();
      values.add(row.contender, 'statements a task', (statements - before.statements) / tasks);
      values.add(row.contender, 'KB of the log of PostgreSQL a task', (wal - before.wal) / 1_024 / tasks);
      await worker.stop();
    });

  const recover = (row: Row) =>
    enginePlaces[row.place](engines, async ({ options }) => {
      const first = await start(row, { ...options, stays: true, lease: row.lease });
      const pid = await first.ask('pid');
      const id = await first.ask('begin');
      await first.ask('die').catch(() => {});
      const killed = performance.now();
      const second = await start(row, { ...options, lease: row.lease });
      const result = await second.ask('result', id);
      if (result !== `3 ${pid}`) throw new Error(`${rowName(row)} ran the first step again: ${result}`);
      values.add(
        row.contender,
        `ms from the kill to the result, ${rowName(row)}`,
        performance.now() - killed,
      );
      await second.stop();
    });

  const inTurns = (which: readonly Row[], act: (row: Row) => Promise<void>, times = runs) => {
    const named = new Map(which.filter(isChosen).map((row) => [rowName(row), row]));
    return alternate([...named.keys()], times, (name) => act(named.get(name)!));
  };
  await inTurns(rows, measure);
  await inTurns(
    rows.filter(({ place }) => place === 'postgres'),
    count,
    1,
  );
  if (!short) await inTurns(recovering, recover);

  if (!short) process.stdout.write(tablesOf(values, rows.filter(isChosen), recovering.filter(isChosen)));
  const postgres = rows.find(({ contender, place }) => contender === 'baton' && place === 'postgres')!;
  const ratios: Record<string, Compared> = {};
  for (const one of compared.filter(({ row }) => isChosen(row) && isChosen(postgres)))
    ratios[nameOf(one)] = values.compare(
      ['baton', unitOf(one.what, postgres, one.cell)],
      [one.row.contender, unitOf(one.what, one.row, one.cell)],
    );
  return { results: values.results, ...ratiosOf(ratios) };
}
