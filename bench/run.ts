/**
 * `pnpm bench` runs every benchmark, prints the ratios against their goals, and writes `bench/results.json` and the table
 * in `docs/performance.md`, after each of them. `pnpm bench <number>` runs one and ends with a line of JSON; with `--write` it
 * writes its figures beside those that others had before. `--short`: little work, for CI; fails only if something does not
 * work or grows as it must not. `--runs <n>`: instead of five. `--size <n>`: so many tasks in the benchmark of stores with
 * many. `--store <name>`: only on this store, where a benchmark has several.
 */
import { readdirSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { type Benchmark, type Goal, isReached, type Report } from './harness/benchmark.ts';
import { printTable, reportName, writeResults } from './harness/report.ts';
import { killWorkers, unanswered } from './harness/worker.ts';

const { values, positionals } = parseArgs({
  options: {
    short: { type: 'boolean', default: false },
    runs: { type: 'string' },
    size: { type: 'string' },
    store: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});
const { short, store } = values;
const size = values.size === undefined ? undefined : Number(values.size);
const runs = Number(values.runs ?? (short ? 1 : 5));

const files = readdirSync(import.meta.dirname).filter((file) => /^\d\d-.*\.ts$/.test(file));
const all = await Promise.all(
  files.sort().map(async (file) => ((await import(`./${file}`)) as { benchmark: Benchmark }).benchmark),
);
const chosen =
  positionals.length === 0
    ? all.filter(({ isLong }) => !(isLong && short))
    : all.filter(({ number }) => positionals.includes(`${number}`));
if (chosen.length === 0) throw new Error(`There is no benchmark ${positionals.join(', ')}`);

/** A short run of one takes seconds, so that one that never ends is a fault, whose place is said. */
const longestShortRunMs = 300_000;
async function inTime<T>(run: Promise<T>): Promise<T> {
  if (!short) return run;
  const { promise, reject } = Promise.withResolvers<never>();
  const late = () => reject(new Error(`It does not end; without an answer:\n${unanswered().join('\n')}`));
  const timer = setTimeout(late, longestShortRunMs);
  return Promise.race([run, promise]).finally(() => clearTimeout(timer));
}

const isWritten = !short && (positionals.length === 0 || values.write);
const finished: Benchmark[] = [];
const reports: Report[] = [];
for (const benchmark of chosen) {
  process.stdout.write(`${benchmark.number}. ${benchmark.work} …\n`);
  const runsOfIt = Math.min(runs, benchmark.mostRuns ?? runs);
  try {
    const measured = await inTime(benchmark.run({ runs: runsOfIt, short, size, store }));
    finished.push(benchmark);
    reports.push({ bench: reportName(benchmark), ...measured });
    if (isWritten) writeResults(all, reports.at(-1)!, runsOfIt);
  } catch (error) {
    // The others are measured all the same.
    process.stderr.write(`${benchmark.number}. failed: ${error instanceof Error ? error.stack : error}\n`);
    process.exitCode = 1;
  } finally {
    killWorkers();
  }
}
printTable(finished, reports);
/** With `--store`, a benchmark leaves other stores out. */
const isMeasured = ({ ratio }: Goal, n: number) =>
  store === undefined || reports[n]?.ratios[ratio] !== undefined;
if (short) {
  const missed = finished.flatMap(({ number, growth = [] }, n) =>
    growth
      .filter((goal) => !isReached(goal, reports[n]?.ratios[goal.ratio]) && isMeasured(goal, n))
      .map((goal) => ({ number, ...goal })),
  );
  for (const goal of missed) process.stderr.write(`Grows too much: ${JSON.stringify(goal)}\n`);
  if (missed.length > 0) process.exitCode = 1;
}
if (positionals.length > 0) for (const report of reports) process.stdout.write(`${JSON.stringify(report)}\n`);
