import { createHash } from 'node:crypto';

/** A Lua script and the hash by which Redis caches it. */
export interface Script {
  readonly source: string;
  readonly sha: string;
  /** The same script, which Redis also runs while its memory is full. */
  readonly whenFull?: Script;
}

export const script = (source: string): Script => ({
  source,
  sha: createHash('sha1').update(source).digest('hex'),
});

/**
 * A script that ends work or keeps it going, and so has to run while the memory of Redis is full. It adds little data.
 * Redis older than 7.0 cannot do so, and refuses it like other scripts.
 */
export const vital = (source: string): Script => ({
  ...script(source),
  whenFull: script(`#!lua flags=allow-oom\n${source}`),
});
