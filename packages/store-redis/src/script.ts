import { createHash } from 'node:crypto';
import type { RedisDriver, RedisReply } from './driver.ts';

/** A Lua script and the name under which Redis remembers it. */
export interface Script {
  readonly source: string;
  readonly sha: string;
}

export const script = (source: string): Script => ({
  source,
  sha: createHash('sha1').update(source).digest('hex'),
});

/** Runs a script in the slot of its keys, and sends its source along only if Redis does not remember it. */
export function run(
  driver: RedisDriver,
  { source, sha }: Script,
  keys: readonly [string, string],
  args: readonly string[],
): Promise<RedisReply> {
  return driver.command(keys[0], ['EVALSHA', sha, '2', ...keys, ...args]).catch((error: unknown) => {
    if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
    return driver.command(keys[0], ['EVAL', source, '2', ...keys, ...args]);
  });
}
