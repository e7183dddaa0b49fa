import type { Contender, Result } from './benchmark.ts';

/** The middle one, or the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2;
}

/** The median of a ratio, and its least and its most, among runs. */
export interface Compared {
  readonly ratio: number;
  readonly spread: readonly [least: number, most: number];
}

/** For the report of a benchmark. */
export function ratiosOf(compared: Readonly<Record<string, Compared>>) {
  const entries = Object.entries(compared);
  return {
    ratios: Object.fromEntries(entries.map(([name, { ratio }]) => [name, ratio])),
    spreads: Object.fromEntries(entries.map(([name, { spread }]) => [name, spread])),
  };
}

/** Values by contender and unit, in the order they were measured. */
export class Values {
  readonly #values = new Map<string, { contender: Contender; unit: string; runs: number[] }>();

  add(contender: Contender, unit: string, value: number): void {
    const key = `${contender}\n${unit}`;
    const known = this.#values.get(key) ?? { contender, unit, runs: [] };
    known.runs.push(value);
    this.#values.set(key, known);
  }

  /** The median of a contender. Throws if it was not measured. */
  median(contender: Contender, unit: string): number {
    return median(this.#runs(contender, unit));
  }

  #runs(contender: Contender, unit: string): readonly number[] {
    const known = this.#values.get(`${contender}\n${unit}`);
    if (!known) throw new Error(`${contender} has no ${unit}`);
    return known.runs;
  }

  /** How many times as much the first has as the second. */
  ratio(one: Contender, other: Contender, unit: string): number {
    return round(this.median(one, unit) / this.median(other, unit));
  }

  /** Compares what two contenders had in each run: `times` the one's value over the other's. */
  compare(one: readonly [Contender, string], other: readonly [Contender, string], times = 1): Compared {
    const below = this.#runs(...other);
    const ratios = this.#runs(...one).map((value, run) => (times * value) / below[run]!);
    return { ratio: round(median(ratios)), spread: [round(Math.min(...ratios)), round(Math.max(...ratios))] };
  }

  /** The same in one unit: how many times as much the first has as the second, in each run. */
  spread(one: Contender, other: Contender, unit: string): Compared {
    return this.compare([one, unit], [other, unit]);
  }

  get results(): Result[] {
    return [...this.#values.values()].map(({ contender, unit, runs }) => ({
      contender,
      median: round(median(runs)),
      unit,
      runs: runs.map(round),
    }));
  }
}

/** Three digits that mean something. */
export const round = (value: number): number =>
  Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3));

/** Measures one contender after the other, again and again: what disturbs the machine for a while disturbs them all. */
export async function alternate<Name extends string>(
  names: readonly Name[],
  runs: number,
  measure: (name: Name, run: number) => Promise<void>,
): Promise<void> {
  for (let run = 0; run < runs; run++) {
    // The order changes, so that no contender is always first.
    const order = run % 2 === 0 ? names : [...names].reverse();
    for (const name of order) await measure(name, run);
  }
}
