import type { Rate } from '@batonjs/store';
import { sha256 } from '#bytes';

/** How many of something a caller may do in a time. */
export interface CallerRate {
  /** So many in `perMs` milliseconds, on average. More than 0. */
  readonly limit: number;
  /** More than 0. */
  readonly perMs: number;
  /** So many at once, after a pause: a whole number, 1 or more. Default: `limit`, rounded up. */
  readonly burst?: number;
}

/** The bucket of a rate at an agent. Names of callers are of people: none stays in the files of a database. */
export const bucketOf = (what: string, queue: string, name: string): string =>
  `${what} ${sha256(JSON.stringify([queue, name]), 'base64url')}`;

/** The rate as stores take it. Throws `TypeError` for one that cannot work, which names the `option`. */
export function toRate(option: string, rate: CallerRate | undefined): Rate | undefined {
  if (rate === undefined) return undefined;
  const { limit, perMs } = Object(rate) as CallerRate;
  for (const [member, value] of Object.entries({ limit, perMs })) {
    if (!(Number.isFinite(value) && value > 0))
      throw new TypeError(`\`${option}.${member}\` must be a number, more than 0`);
  }
  const { burst = Math.ceil(limit) } = rate;
  if (!(Number.isSafeInteger(burst) && burst > 0))
    throw new TypeError(`\`${option}.burst\` must be a whole number, 1 or more`);
  return { burst, everyMs: perMs / limit };
}
