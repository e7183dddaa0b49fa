import { InvalidArgumentError } from 'commander';

const units: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** Reads a duration such as `500ms`, `2s` or `1m30s` as milliseconds. A number without a unit is refused. */
export function toDuration(text: string): number {
  if (!/^(\d{1,9}(\.\d{1,3})?(ms|s|m|h)){1,4}$/.test(text))
    throw new InvalidArgumentError('A duration is a number with a unit, such as 500ms, 2s or 1m30s.');
  const pieces = text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g);
  return [...pieces].reduce((sum, [, number, unit]) => sum + Number(number) * units[unit!]!, 0);
}

/** Milliseconds as {@link toDuration} reads them, in the largest unit of which they are a whole number: `168h`, `10m`. */
export function durationText(ms: number): string {
  const [unit, length] = Object.entries(units).findLast(([, each]) => ms >= each && ms % each === 0) ?? [
    's',
    1_000,
  ];
  return `${ms / length}${unit}`;
}
