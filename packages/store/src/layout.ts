import { StoreError } from './port/commit.ts';

/** Brings the data of a store from one layout to the next. */
export interface LayoutStep<Database> {
  readonly from: number;
  readonly to: number;
  /** Repeats nothing that is done already: a process may die in the middle of it. */
  readonly run: (database: Database) => unknown;
}

/**
 * The layouts of its data that a release of a store reads. The hundreds of a number are its generation. A release whose
 * layout is older works beside newer ones on data of the same generation: a step within a generation only adds. What older
 * releases need goes with the first step of the next generation, and they refuse the data from then on.
 */
export interface Layouts<Database> {
  /** What new data have, and older data after the steps. */
  readonly current: number;
  /** From the oldest layout that is read to `current`, in order. */
  readonly steps: readonly LayoutStep<Database>[];
}

/**
 * The steps that bring data of the layout `found` to the current one. None for data of a newer release that this one may work
 * beside. Throws a `StoreError` of code `UNUSABLE` for any other layout. `data`: the name of the data. `instead`: what to use
 * in place of them.
 */
export function stepsFrom<Database>(
  found: unknown,
  { current, steps }: Layouts<Database>,
  { data, instead }: { readonly data: string; readonly instead: string },
): readonly LayoutStep<Database>[] {
  const number = Number(found);
  if (number >= current && generationOf(number) === generationOf(current)) return [];
  const first = steps.findIndex(({ from }) => from === number);
  if (first >= 0) return steps.slice(first);
  const read = steps.length === 0 ? `${current} only` : `${steps[0]?.from} to ${current}`;
  throw new StoreError(
    'UNUSABLE',
    `${data} was written by another release: its layout has number ${found}, and this release reads ${read}. Use ${instead}, or the release that wrote it`,
  );
}

const generationOf = (layout: number): number => Math.floor(layout / 100);
