/** What one contender did in one respect: `runs` are the single values, in the order they were measured. */
export interface Result {
  readonly contender: Contender;
  readonly median: number;
  /** What the values count, and of which work where a benchmark has several. */
  readonly unit: string;
  readonly runs: readonly number[];
}

export type Contender =
  | 'baton'
  | 'react-hooks'
  | 'official-sdk'
  | 'express'
  | 'node:http'
  | 'bare-sqlite'
  | 'bare-redis'
  | 'bare-postgres'
  | 'bare-etcd'
  | 'bare-notify'
  | 'bare-sse'
  | 'bare-ws'
  | 'grpc-js'
  | 'dbos'
  | 'openworkflow'
  | 'restate'
  | 'pg-boss';

/** A target: a name in `ratios`, and its bound. */
export interface Goal {
  readonly ratio: string;
  readonly atLeast?: number;
  readonly atMost?: number;
}

export interface Measured {
  readonly results: readonly Result[];
  /** Also plain figures, where the goal is one. */
  readonly ratios: Readonly<Record<string, number>>;
  /** The least and the most of a ratio, where each run has one of its own. */
  readonly spreads?: Readonly<Record<string, readonly [least: number, most: number]>>;
}

export interface RunOptions {
  /** How often each contender is measured. */
  readonly runs: number;
  /** Little work, to see that it works and how it grows; its figures mean nothing. */
  readonly short: boolean;
  /** How many tasks, where a benchmark is about many of them: instead of its own number. */
  readonly size?: number;
  /** Only this store, where a benchmark has several and lets one be chosen. */
  readonly store?: string;
}

export interface Benchmark {
  readonly number: number;
  readonly name: string;
  /** The measured work, in a few words. */
  readonly work: string;
  readonly goals: readonly Goal[];
  /** Short runs of all benchmarks leave it out: it compares Baton with what a short run does not install. */
  readonly isLong?: true;
  /** Which goals also a short run must reach: they are about growth, not about time. */
  readonly growth?: readonly Goal[];
  /** Where a run takes minutes and its figures hardly move: more runs than this are not made. */
  readonly mostRuns?: number;
  /** Rejects if a contender gives a wrong answer. */
  run(options: RunOptions): Promise<Measured>;
}

/** The report in the last line of a benchmark's output. */
export interface Report extends Measured {
  readonly bench: string;
}

export const isReached = ({ atLeast, atMost }: Goal, value: number | undefined): boolean =>
  value !== undefined && value >= (atLeast ?? -Infinity) && value <= (atMost ?? Infinity);
