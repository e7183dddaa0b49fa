/**
 * How often a test repeats what it tries: `short` times in `pnpm test` and `pnpm test:programs`, `long` times in
 * `pnpm test:long`, which runs vitest with `--mode long`.
 */
export const repetitions = (short: number, long: number): number =>
  process.env.MODE === 'long' ? long : short;
