import type { Contender } from '../harness/benchmark.ts';
import { round, type Values } from '../harness/measure.ts';
import type { PlaceName } from './places.ts';

/** An engine, and where it keeps its tasks. */
export interface Row {
  readonly contender: Contender & ('baton' | 'dbos' | 'openworkflow' | 'pg-boss' | 'restate');
  readonly place: PlaceName;
  /** Of Baton, in milliseconds; else its default. */
  readonly lease?: number;
}

export const rowName = ({ contender, place, lease }: Row): string =>
  `${contender}${contender === place ? '' : ` on ${place}`}${lease ? `, leases of ${lease} ms` : ''}`;

/** So many tasks at a time, with steps that take so long. */
export interface Cell {
  readonly atATime: number;
  readonly stepMs: number;
}

export const cells: readonly Cell[] = [0, 50].flatMap((stepMs) =>
  [1, 4, 16, 64].map((atATime) => ({ atATime, stepMs })),
);

const units = {
  CPU: 'ms CPU a task',
  p50: 'ms, p50',
  p99: 'ms, p99',
  'tasks/s': 'tasks/s',
  KB: 'KB written to the disk a task',
} as const;

type Figure = keyof typeof units;

export const unitOf = (figure: Figure, row: Row, { atATime, stepMs }: Cell): string =>
  `${units[figure]}, ${atATime} at a time, steps of ${stepMs} ms, ${row.place}`;

/** The medians as tables in Markdown, for a page. */
export function tablesOf(values: Values, rows: readonly Row[], recovering: readonly Row[]): string {
  const lines: string[] = [];
  const add = (head: string, columns: readonly string[], body: readonly (readonly string[])[]) =>
    lines.push(
      '',
      `| ${[head, ...columns].join(' | ')} |`,
      `| --- |${' ---: |'.repeat(columns.length)}`,
      ...body.map((line) => `| ${line.join(' | ')} |`),
    );
  for (const stepMs of [0, 50]) {
    const those = cells.filter((cell) => cell.stepMs === stepMs);
    const body = rows.map((row) => {
      const of = (figure: Figure) =>
        those.map((cell) => text(values.median(row.contender, unitOf(figure, row, cell))));
      const latencies = of('p99').map((p99, n) => `${of('p50')[n]} (${p99})`);
      return [
        rowName(row),
        of('CPU').join(', '),
        latencies.join(', '),
        of('tasks/s').join(', '),
        of('KB').join(', '),
      ];
    });
    add(`steps of ${stepMs} ms; 1, 4, 16, 64 at a time`, ['CPU, ms', 'p50 (p99), ms', 'tasks/s', 'KB'], body);
  }
  const counted = rows.filter(({ place }) => place === 'postgres');
  const countedUnits = ['statements a task', 'KB of the log of PostgreSQL a task'];
  add(
    '1 at a time',
    countedUnits,
    counted.map((row) => [
      rowName(row),
      ...countedUnits.map((unit) => text(values.median(row.contender, unit))),
    ]),
  );
  const kill = 'ms from the kill to the result';
  add(
    'killed in the second step, and started again',
    [kill],
    recovering.map((row) => [rowName(row), text(values.median(row.contender, `${kill}, ${rowName(row)}`))]),
  );
  return `${lines.join('\n')}\n\n`;
}

const text = (value: number): string => round(value).toLocaleString('en');
