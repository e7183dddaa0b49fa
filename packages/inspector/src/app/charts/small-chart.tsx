import type { ComponentChildren } from 'preact';
import { dateTime } from '../parts/words.ts';

/** The time along a chart. */
export interface ChartTime {
  /** Milliseconds since 1970. */
  readonly from: number;
  readonly bucketMs: number;
  /** Nothing is known of what was before. */
  readonly since: number;
}

/** One row of values; undefined where nothing is known. */
interface Series {
  readonly kind: 'bars' | 'steps' | 'dots';
  readonly tone: 'main' | 'bad' | 'wait' | 'slow';
  readonly values: readonly (number | undefined)[];
}

interface SmallChartProps {
  readonly title: string;
  /** The number that stands for the whole time. */
  readonly figure: string;
  readonly aside?: ComponentChildren;
  readonly time: ChartTime;
  /** Later ones are drawn over those before. */
  readonly series: readonly Series[];
  /** What a span of time shows, in words. */
  readonly say: (index: number) => string;
  /** The largest value in words. */
  readonly format?: (value: number) => string;
}

/** The height of a drawing, in its own units; a span of time is 10 wide. */
const height = 60;
const width = 10;

/** A small chart: one number, and how it came to be over time. */
export function SmallChart(props: SmallChartProps) {
  const { title, figure, aside, time, series, say, format = (value) => value.toLocaleString('en') } = props;
  const count = series[0]?.values.length ?? 0;
  const largest = Math.max(0, ...series.flatMap(({ values }) => values.map((value) => value ?? 0)));
  const least = Math.min(largest, ...series.flatMap(({ values }) => values.map((value) => value || largest)));
  const until = time.from + count * time.bucketMs;
  const unknown = unknownOf(series[0]!, time, count);
  return (
    <figure class="chart">
      <figcaption>
        <span class="chart-title">{title}</span>
        <span class="chart-figure">
          {figure} {aside && <span class="chart-aside">{aside}</span>}
        </span>
      </figcaption>
      <div class="chart-top muted" aria-hidden="true">
        <span>{largest > 0 && format(largest)}</span>
        {largest > 0 && series[0]?.kind === 'dots' && <span>logarithmic</span>}
      </div>
      <svg
        class="chart-drawing"
        viewBox={`0 0 ${count * width} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${title} over time. The numbers are in the table below.`}
      >
        {unknown > 0 && <rect class="chart-unknown" width={unknown * width} height={height} />}
        {series.map(({ kind, tone, values }) => (
          <path
            key={tone}
            class={`chart-${kind} chart-${tone}`}
            d={values.map((value, index) => shapes[kind](index, value, { least, largest })).join('')}
          />
        ))}
        {Array.from({ length: count }, (_, index) => (
          <rect key={index} class="chart-span" x={index * width} width={width} height={height}>
            <title>{`${minutes(time.from + index * time.bucketMs)}: ${say(index)}`}</title>
          </rect>
        ))}
      </svg>
      <div class="chart-axis muted" aria-hidden="true">
        <span>{minutes(time.from)}</span>
        <span>{until > Date.now() ? 'now' : minutes(until)}</span>
      </div>
    </figure>
  );
}

/** How many of the first spans nothing is known of. */
function unknownOf({ kind, values }: Series, { since, from, bucketMs }: ChartTime, count: number): number {
  const known = values.findIndex((value) => value !== undefined);
  if (kind === 'steps') return known < 0 ? count : known;
  return Math.min(count, Math.max(0, (since - from) / bucketMs));
}

const minutes = (at: number): string =>
  dateTime(new Date(at).toISOString())
    .replace(/ \d{4} /, ' ')
    .replace(/:\d\d$/, '');

interface Scale {
  /** Above 0. */
  readonly least: number;
  readonly largest: number;
}

type Shape = (index: number, value: number | undefined, scale: Scale) => string;

/** How a value is drawn: a part of a path. */
const shapes: Readonly<Record<Series['kind'], Shape>> = {
  bars: (index, value, { largest }) => (value ? bar(index, value / largest) : ''),
  steps: (index, value, { largest }) =>
    value === undefined
      ? ''
      : `M${index * width} ${topOf(largest > 0 ? value / largest : 0)}h${width}V${height}h-${width}z`,
  // A line of no length has round ends, so it is a dot, however the drawing is stretched.
  dots: (index, value, scale) =>
    value === undefined ? '' : `M${index * width + width / 2} ${topOf(logarithmic(value, scale), 4)}h0`,
};

/** Durations differ so much that a short one could not be seen on another scale. */
const logarithmic = (value: number, { least, largest }: Scale): number =>
  largest > least && value > 0 ? Math.log(value / least) / Math.log(largest / least) : value > 0 ? 0.5 : 0;

/** Never so low that one of many cannot be seen. */
function bar(index: number, part: number): string {
  const top = Math.min(height - 2, topOf(part));
  return `M${index * width + 1} ${height}V${top}h${width - 2}V${height}z`;
}

const topOf = (part: number, margin = 0): number =>
  Math.round((height - margin - part * (height - 2 * margin)) * 10) / 10;
