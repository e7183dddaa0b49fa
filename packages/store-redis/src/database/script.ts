import { createHash } from 'node:crypto';

/** A Lua script and the name under which Redis remembers it. */
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
 * A script that ends work or keeps it going, and so has to run while the memory of Redis is full. What it adds is small.
 * Redis older than 7.0 does not know how, and refuses it like the others.
 */
export const vital = (source: string): Script => ({
  ...script(source),
  whenFull: script(`#!lua flags=allow-oom\n${source}`),
});
