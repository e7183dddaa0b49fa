import type { Load, Measured } from './run-load.ts';

/** One line of the result. Times in milliseconds. */
export interface LoadRow {
  /** The kind of call; ` first event` follows where the time until that was measured. */
  readonly operation: string;
  readonly calls: number;
  readonly perSecond: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
  readonly errors: Readonly<Record<string, number>>;
}

/** The lines of a run, kinds in the order in which they were first called. */
export const rowsOf = ({ kinds, ms }: Load): LoadRow[] =>
  Array.from(kinds, ([kind, measured]) => [
    rowOf(kind, measured.latencies, measured, ms),
    ...(measured.firsts.length > 0
      ? [rowOf(`${kind} first event`, measured.firsts, { errors: new Map() }, ms)]
      : []),
  ]).flat();

function rowOf(
  operation: string,
  latencies: readonly number[],
  { errors }: Pick<Measured, 'errors'>,
  ms: number,
): LoadRow {
  const sorted = [...latencies].sort((a, b) => a - b);
  const at = (share: number) => round(sorted[Math.ceil(sorted.length * share) - 1] ?? 0);
  return {
    operation,
    calls: sorted.length,
    perSecond: round((sorted.length * 1_000) / ms),
    ...{ p50: at(0.5), p95: at(0.95), p99: at(0.99), max: at(1) },
    errors: Object.fromEntries(errors),
  };
}

const round = (number: number): number => Math.round(number * 10) / 10;

/** A table for people, its columns under each other. */
export function tableOf(rows: readonly LoadRow[]): string {
  const cells = rows.map(({ operation, calls, perSecond, p50, p95, p99, max, errors }) => [
    operation,
    ...[calls, perSecond, p50, p95, p99, max].map(String),
    Object.entries(errors)
      .map(([name, times]) => `${times} ${name}`)
      .join(', '),
  ]);
  const header = ['operation', 'calls', 'calls/s', 'p50 ms', 'p95 ms', 'p99 ms', 'max ms', 'errors'];
  const lines = [header, ...cells];
  const widths = header.map((_, n) => Math.max(...lines.map((line) => String(line[n]).length)));
  return lines
    .map((line) =>
      line
        .map((cell, n) =>
          n === 0 || n === line.length - 1 ? cell.padEnd(widths[n] ?? 0) : cell.padStart(widths[n] ?? 0),
        )
        .join('  ')
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join('');
}
