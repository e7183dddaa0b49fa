import { InvalidArgumentError, type Option } from 'commander';

const units: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Reads a duration such as `500ms`, `2s`, `1m30s` or `7d` as milliseconds. A number without a unit is refused. */
export function toDuration(text: string): number {
  if (!/^(\d{1,9}(\.\d{1,3})?(ms|s|m|h|d)){1,5}$/.test(text))
    throw new InvalidArgumentError('A duration is a number with a unit, such as 500ms, 2s, 1m30s or 7d.');
  const pieces = text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g);
  return [...pieces].reduce((sum, [, number, unit]) => sum + Number(number) * units[unit!]!, 0);
}

/** Milliseconds as {@link toDuration} reads them: `168h`, `1m30s`, `12ms`. A time before another one has a minus. */
export function durationText(ms: number): string {
  if (ms < 0) return `-${durationText(-ms)}`;
  if (ms > 0 && ms < 1_000) return `${Math.round(ms)}ms`;
  const [hours, minutes] = [Math.floor(ms / 3_600_000), Math.floor(ms / 60_000) % 60];
  const seconds = Math.round(ms % 60_000) / 1_000;
  const whole = `${hours > 0 ? `${hours}h` : ''}${minutes > 0 ? `${minutes}m` : ''}`;
  return seconds > 0 || whole === '' ? `${whole}${seconds}s` : whole;
}

/** The default of a flag, as it would be typed. */
export function defaultText({ defaultValue, parseArg }: Option): string | undefined {
  if (defaultValue === undefined) return undefined;
  return parseArg === toDuration ? durationText(Number(defaultValue)) : String(defaultValue);
}
