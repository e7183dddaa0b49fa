import type { ChartBucket, ChartRange } from '../api/charts.ts';
import { Durations } from './durations.ts';

/** How long each span of time is, in milliseconds, and how many are kept. */
export const spans: Readonly<Record<ChartRange, { readonly ms: number; readonly count: number }>> = {
  hour: { ms: 60_000, count: 60 },
  day: { ms: 1_800_000, count: 48 },
  week: { ms: 10_800_000, count: 56 },
};

/** How far back anything is counted, in milliseconds. */
export const longestMs = spans.week.ms * spans.week.count;

interface Span {
  started: number;
  ended: number;
  failed: number;
  waiting?: number;
  readonly durations: Durations;
}

const emptySpan = (): Span => ({ started: 0, ended: 0, failed: 0, durations: new Durations() });

/** When the first span of a range begins, in milliseconds since 1970. */
export const firstOf = (range: ChartRange, now: number): number =>
  (Math.floor(now / spans[range].ms) - spans[range].count + 1) * spans[range].ms;

/** Counts what happens to tasks, for each range: a few hundred spans, however many tasks there are. */
export class ChartCounts {
  /** By range; the spans by their number since 1970. */
  readonly #spans: Readonly<Record<ChartRange, Map<number, Span>>> = {
    hour: new Map(),
    day: new Map(),
    week: new Map(),
  };
  #waiting: number | undefined;

  started(at: number): void {
    this.#each(at, (span) => {
      span.started += 1;
    });
  }

  ended(at: number, { hasFailed, ms }: { readonly hasFailed: boolean; readonly ms: number }): void {
    this.#each(at, (span) => {
      span.ended += 1;
      if (hasFailed) span.failed += 1;
      span.durations.add(ms);
    });
  }

  /** So many tasks wait for an answer now. */
  waiting(at: number, count: number): void {
    this.#waiting = count;
    this.#each(at, (span) => {
      span.waiting = Math.max(span.waiting ?? 0, count);
    });
  }

  /** The spans of a range up to now, and all of them together. */
  read(
    range: ChartRange,
    now: number,
  ): { readonly buckets: readonly ChartBucket[]; readonly total: ChartBucket } {
    const { ms, count } = spans[range];
    const first = firstOf(range, now) / ms;
    const found = Array.from({ length: count }, (_, index) => this.#spans[range].get(first + index));
    const total = emptySpan();
    for (const span of found) {
      if (!span) continue;
      total.started += span.started;
      total.ended += span.ended;
      total.failed += span.failed;
      total.durations.addAll(span.durations);
    }
    if (this.#waiting !== undefined) total.waiting = this.#waiting;
    return { buckets: found.map((span) => bucketOf(span ?? emptySpan())), total: bucketOf(total) };
  }

  /** Forgets what no range shows any more. */
  prune(now: number): void {
    for (const range of Object.keys(spans) as ChartRange[])
      for (const number of this.#spans[range].keys())
        if (number * spans[range].ms < firstOf(range, now)) this.#spans[range].delete(number);
  }

  #each(at: number, count: (span: Span) => void): void {
    for (const range of Object.keys(spans) as ChartRange[]) {
      const number = Math.floor(at / spans[range].ms);
      const span = this.#spans[range].get(number) ?? emptySpan();
      this.#spans[range].set(number, span);
      count(span);
    }
  }
}

function bucketOf({ started, ended, failed, waiting, durations }: Span): ChartBucket {
  const [p50, p95] = [durations.at(0.5), durations.at(0.95)];
  return {
    started,
    ended,
    failed,
    ...(waiting !== undefined && { waiting }),
    ...(p50 !== undefined && { p50 }),
    ...(p95 !== undefined && { p95 }),
  };
}
