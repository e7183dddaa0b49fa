import { duration } from '../parts/words.ts';

/** A duration with two digits: the counters know no more. */
export function roughly(ms: number): string {
  const digits = ms < 1 ? 1 : 10 ** Math.max(0, Math.floor(Math.log10(ms)) - 1);
  return duration(Math.round(ms / digits) * digits).replace(/(\.0|(?<=\.\d)0) s$/, ' s');
}
