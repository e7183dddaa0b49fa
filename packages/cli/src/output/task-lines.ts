import type { Task } from '@batonjs/protocol';
import { textOf } from '@batonjs/protocol/parts';
import { cleanLine } from './clean.ts';

const units: readonly (readonly [number, string])[] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'm'],
  [1_000, 's'],
];

/** How long ago a time was: `12s`, `3m`, `5h`, `2d`; nothing for none. */
function ageOf(time: string | undefined, now: number): string {
  const ms = now - Date.parse(time ?? '');
  if (Number.isNaN(ms)) return '';
  const [length, unit] = units.find(([length]) => ms >= length) ?? [1_000, 's'];
  return `${Math.max(0, Math.floor(ms / length))}${unit}`;
}

/** Tasks for a person at a terminal, one a line: state, age, id, and the text that was said last. */
export function taskLines(tasks: readonly Task[], columns: number, now: number): string {
  const rows = tasks.map(({ id, status, history }) => ({
    state: cleanLine(status.state.replace('TASK_STATE_', '').replaceAll('_', '-').toLowerCase()),
    age: ageOf(status.timestamp, now),
    id: cleanLine(id),
    text: cleanLine(textOf(status.message ?? history?.at(-1))),
  }));
  const widest = (texts: readonly string[]) => Math.max(0, ...texts.map((text) => text.length));
  const [state, age] = [widest(rows.map((row) => row.state)), widest(rows.map((row) => row.age))];
  return rows
    .map((row) => {
      const line = `${row.state.padEnd(state)}  ${row.age.padStart(age)}  ${row.id}  ${row.text}`.trimEnd();
      return `${line.length > columns ? `${line.slice(0, columns - 1)}…` : line}\n`;
    })
    .join('');
}
