import type { Rate } from '@batonjs/store';
import type { Database } from './database/database.ts';
import { vital } from './database/script.ts';
import { take } from './lua/take.ts';

// Requests that only read are answered while the memory of Redis is full.
const takeScript = vital(take);

/** Takes one from a bucket. Resolves to 0, or to the milliseconds until there is one. */
export async function takeFrom(
  database: Database,
  bucket: string,
  { burst, everyMs }: Rate,
): Promise<number> {
  const args = [String(burst), String(everyMs)];
  return Number(await database.ofTask(takeScript, bucket, bucket, args));
}
