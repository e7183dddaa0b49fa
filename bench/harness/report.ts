import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { arch, cpus, release, totalmem, type } from 'node:os';
import { fileURLToPath } from 'node:url';
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

/** Where, when and of what it was measured; nothing that identifies this machine. */
function place() {
  const [cpu] = cpus();
  return {
    date: new Date().toISOString().slice(0, 10),
    commit:
      git('rev-parse', '--short=8', 'HEAD') + (git('status', '--porcelain', 'packages') && ' with changes'),
    cores: cpus().length,
    processor: cpu?.model ?? '',
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    system: `${type()} ${release().split('-')[0]} ${arch()}`,
    node: process.version,
    sqlite: process.versions.sqlite,
    versions: Object.fromEntries(peers.map((name) => [name, version(name)])),
  };
}

const root = fileURLToPath(new URL('../../', import.meta.url));
const git = (...args: string[]): string => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();

const version = (name: string): string =>
  (
    JSON.parse(readFileSync(new URL(`../../node_modules/${name}/package.json`, import.meta.url), 'utf8')) as {
      version: string;
    }
  ).version;

const peers = ['@a2a-js/sdk', 'express', 'better-sqlite3', 'kysely'];

/** A report, and how it was measured. */
interface Kept extends Report {
  readonly place: ReturnType<typeof place>;
  /** Of how many runs its figures are the medians. */
  readonly ofRuns: number;
}

/** The name of a benchmark among the results. */
export const reportName = ({ number, name }: Benchmark): string =>
  `${String(number).padStart(2, '0')}-${name}`;

/**
 * Writes a report to `bench/results.json` in place of the one before, and all of them to the table in
 * `docs/performance.md`, between its marks, each with its commit.
 */
export function writeResults(benchmarks: readonly Benchmark[], report: Report, ofRuns: number): void {
  const here = place();
  const results = new URL('../results.json', import.meta.url);
  const { reports: before } = JSON.parse(readFileSync(results, 'utf8')) as { reports: readonly Kept[] };
  const known = new Map(before.map((one) => [one.bench, one]));
  known.set(report.bench, { ...report, place: here, ofRuns });
  const kept = benchmarks.flatMap((benchmark) => known.get(reportName(benchmark)) ?? []);
  writeFileSync(results, `${JSON.stringify({ reports: kept }, undefined, 2)}\n`);

  const lines = [
    `The latest on ${here.cores} cores (${here.processor}), ${here.memoryGiB} GiB, ${here.system}, Node.js ${here.node},`,
    `SQLite ${here.sqlite}, ${peers.map((name) => `${name} ${here.versions[name]}`).join(', ')}.`,
    'Each run, with its unit, and where it was made are in [results.json](../bench/results.json).',
    '',
  ];
  for (const benchmark of benchmarks) {
    const one = known.get(reportName(benchmark));
    if (!one) continue;
    const { commit, date } = one.place;
    lines.push(
      `### ${benchmark.number}. ${benchmark.work}`,
      '',
      `Commit ${commit}, ${date}, medians of ${one.ofRuns} ${one.ofRuns === 1 ? 'run' : 'runs'}.`,
      '',
      '| ratio | here | goal | reached |',
      '| --- | ---: | --- | --- |',
    );
    for (const { ratio, value, goal, reached } of rowsOf(benchmark, one))
      lines.push(`| ${ratio} | ${value} | ${goal} | ${reached} |`);
    lines.push('');
  }
  const page = new URL('../../docs/performance.md', import.meta.url);
  const [first, after] = readFileSync(page, 'utf8').split(
    /(?<=<!-- table -->\n)[\s\S]*(?=<!-- end of table -->)/,
  );
  writeFileSync(page, `${first}\n${lines.join('\n')}\n${after}`);
}
