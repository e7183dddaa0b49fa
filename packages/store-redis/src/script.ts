import { createHash } from 'node:crypto';

/** A Lua script and the name under which Redis remembers it. */
export interface Script {
  readonly source: string;
  readonly sha: string;
}

export const script = (source: string): Script => ({
  source,
  sha: createHash('sha1').update(source).digest('hex'),
});
