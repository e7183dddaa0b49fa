import type { Attributes } from '@opentelemetry/api';

/** An instrument as it is written. */
export interface Exposed {
  readonly kind: 'counter' | 'gauge' | 'histogram';
  /** The name for Prometheus, without `_total`. */
  readonly name: string;
  readonly help: string;
  readonly unit: string | undefined;
  readonly bounds: readonly number[];
  /** By their labels, as they are written, without braces. */
  readonly series: ReadonlyMap<string, Series>;
}

interface Series {
  /** The value; of a histogram, the sum of all values. */
  readonly value: number;
  /** Of a histogram: how many values lie in each bucket that has any, the last one without an upper bound. */
  readonly buckets: readonly number[];
}

/** How metrics are written: the text format of Prometheus, or OpenMetrics. */
export type Format = 'text' | 'openmetrics';

export const mediaTypes: Readonly<Record<Format, string>> = {
  text: 'text/plain; version=0.0.4; charset=utf-8',
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
};

/** The format that a reader asks for. */
export const formatFor = (accept: string | undefined): Format =>
  accept?.includes('application/openmetrics-text') ? 'openmetrics' : 'text';

/**
 * The name of a metric as collectors of OpenTelemetry translate it for Prometheus: dots become underscores, and
 * seconds are appended.
 */
export const prometheusName = (name: string, unit: string): string =>
  name.replaceAll(/\W/g, '_') + (unit === 's' ? '_seconds' : '');

/** The labels of a series, in the order of their names. */
export function labelsOf(attributes: Attributes): string {
  const pairs = Object.entries(attributes).filter(([, value]) => value !== undefined);
  if (pairs.length === 0) return '';
  return pairs
    .map(([name, value]) => `${name.replaceAll(/\W/g, '_')}="${escaped(String(value), true)}"`)
    .sort()
    .join(',');
}

/** Everything as text. Instruments without values are left out. */
export function writeMetrics(instruments: readonly Exposed[], format: Format): string {
  const written = instruments.filter(({ series }) => series.size > 0).map((one) => block(one, format));
  return written.join('') + (format === 'openmetrics' ? '# EOF\n' : '');
}

function block(instrument: Exposed, format: Format): string {
  const { kind, name, help, unit, series } = instrument;
  const sample = kind === 'counter' ? `${name}_total` : name;
  // In the older format the type of a counter stands under the name of its samples.
  const family = format === 'openmetrics' ? name : sample;
  const lines = [`# HELP ${family} ${escaped(help, format === 'openmetrics')}`, `# TYPE ${family} ${kind}`];
  if (format === 'openmetrics' && unit) lines.push(`# UNIT ${family} ${unit}`);
  for (const [labels, one] of series)
    if (kind === 'histogram') lines.push(...bucketsOf(instrument, labels, one));
    else lines.push(`${sample}${inBraces(labels)} ${numeral(one.value)}`);
  return `${lines.join('\n')}\n`;
}

function bucketsOf({ name, bounds }: Exposed, labels: string, { value, buckets }: Series): string[] {
  let below = 0;
  const lines = [...bounds, Number.POSITIVE_INFINITY].map((bound, n) => {
    below += buckets[n] ?? 0;
    const le = `le="${bound === Number.POSITIVE_INFINITY ? '+Inf' : numeral(bound)}"`;
    return `${name}_bucket${inBraces(labels ? `${labels},${le}` : le)} ${below}`;
  });
  return [
    ...lines,
    `${name}_sum${inBraces(labels)} ${numeral(value)}`,
    `${name}_count${inBraces(labels)} ${below}`,
  ];
}

const inBraces = (labels: string): string => (labels === '' ? '' : `{${labels}}`);

const numeral = (value: number): string =>
  Number.isFinite(value) ? String(value) : value > 0 ? '+Inf' : value < 0 ? '-Inf' : 'NaN';

function escaped(text: string, isQuoted: boolean): string {
  const plain = text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
  return isQuoted ? plain.replaceAll('"', '\\"') : plain;
}
