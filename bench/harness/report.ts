import { readFileSync, writeFileSync } from 'node:fs';
import { arch, cpus, release, totalmem, type } from 'node:os';
import { type Benchmark, type Goal, isReached, type Report } from './benchmark.ts';

interface Row {
  readonly number: number;
  readonly ratio: string;
  /** The ratio, and its least and most among runs. */
  readonly value: string;
  readonly goal: string;
  readonly reached: string;
}

/** One row per ratio; those with a goal first. */
function rowsOf({ number, goals }: Benchmark, { ratios, spreads }: Report): Row[] {
  const aims = new Map(goals.map((goal) => [goal.ratio, goal]));
  return Object.entries(ratios)
    .map(([ratio, value]) => {
      const goal = aims.get(ratio);
      return {
        number,
        ratio,
        value: figureOf(value, spreads?.[ratio]),
        goal: goal ? textOf(goal) : '',
        reached: goal ? (isReached(goal, value) ? 'yes' : 'no') : '',
      };
    })
    .sort((a, b) => Number(b.goal !== '') - Number(a.goal !== ''));
}

const figureOf = (value: number, spread: readonly number[] | undefined): string =>
  value.toLocaleString('en') +
  (spread ? ` (${spread.map((one) => one.toLocaleString('en')).join('–')})` : '');

const textOf = ({ atLeast, atMost }: Goal): string =>
  atLeast !== undefined ? `≥ ${atLeast.toLocaleString('en')}` : `≤ ${atMost?.toLocaleString('en')}`;

export function printTable(benchmarks: readonly Benchmark[], reports: readonly Report[]): void {
  const rows = benchmarks.flatMap((benchmark, n) => rowsOf(benchmark, reports[n]!));
  const width = Math.max(...rows.map(({ ratio }) => ratio.length));
  const figures = Math.max(...rows.map(({ value }) => value.length));
  process.stdout.write(
    `\n ${'#'.padStart(2)}  ${'ratio'.padEnd(width)}  ${'here'.padStart(figures)}  ${'goal'.padEnd(9)}  reached\n`,
  );
  for (const { number, ratio, value, goal, reached } of rows) {
    const figure = value.padStart(figures);
    process.stdout.write(
      `${String(number).padStart(3)}  ${ratio.padEnd(width)}  ${figure}  ${goal.padEnd(9)}  ${reached}\n`,
    );
  }
  process.stdout.write('\n');
}

/** Where and when it was measured; nothing that identifies this machine. */
function machine() {
  const [cpu] = cpus();
  return {
    date: new Date().toISOString().slice(0, 10),
    cores: cpus().length,
    processor: cpu?.model ?? '',
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    system: `${type()} ${release().split('-')[0]} ${arch()}`,
    node: process.version,
    sqlite: process.versions.sqlite,
  };
}

const version = (name: string): string =>
  (
    JSON.parse(readFileSync(new URL(`../../node_modules/${name}/package.json`, import.meta.url), 'utf8')) as {
      version: string;
    }
  ).version;

const peers = ['@a2a-js/sdk', 'express', 'better-sqlite3', 'kysely'];

/** Writes `bench/results.json`, and the table in `docs/performance.md` between its marks. */
export function writeResults(
  benchmarks: readonly Benchmark[],
  reports: readonly Report[],
  runs: number,
): void {
  const where = machine();
  const versions = Object.fromEntries(peers.map((name) => [name, version(name)]));
  const results = new URL('../results.json', import.meta.url);
  writeFileSync(results, `${JSON.stringify({ ...where, versions, runs, reports }, undefined, 2)}\n`);

  const lines = [
    `Measured on ${where.date}: ${where.cores} cores (${where.processor}), ${where.memoryGiB} GiB, ${where.system},`,
    `Node.js ${where.node}, SQLite ${where.sqlite}, ${peers.map((name) => `${name} ${versions[name]}`).join(', ')}.`,
    `Medians of ${runs} runs${ofFewer(benchmarks, runs)}; each of them, with its unit, is in`,
    '[results.json](../bench/results.json).',
    '',
  ];
  for (const [n, benchmark] of benchmarks.entries()) {
    lines.push(
      `### ${benchmark.number}. ${benchmark.work}`,
      '',
      '| ratio | here | goal | reached |',
      '| --- | ---: | --- | --- |',
    );
    for (const { ratio, value, goal, reached } of rowsOf(benchmark, reports[n]!))
      lines.push(`| ${ratio} | ${value} | ${goal} | ${reached} |`);
    lines.push('');
  }
  const page = new URL('../../docs/performance.md', import.meta.url);
  const [before, after] = readFileSync(page, 'utf8').split(
    /(?<=<!-- table -->\n)[\s\S]*(?=<!-- end of table -->)/,
  );
  writeFileSync(page, `${before}\n${lines.join('\n')}\n${after}`);
}

/** Which benchmarks had fewer runs, for the sentence that says how many there were. */
function ofFewer(benchmarks: readonly Benchmark[], runs: number): string {
  const fewer = benchmarks.filter(({ mostRuns = runs }) => mostRuns < runs);
  return fewer.length === 0 ? '' : `, of fewer for ${fewer.map(({ number }) => number).join(', ')}`;
}
