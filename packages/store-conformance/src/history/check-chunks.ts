import type { FactOf } from '@batonjs/lifecycle';
import type { KeptLog } from './kept-log.ts';
import type { Finding } from './violation.ts';

/** The number an agent gave a chunk, and the attempt that made it if it says so. */
export interface Chunk {
  readonly chunk: number;
  readonly attempt?: number;
}

/** Reads `{ chunk, attempt? }` from the first data part that has it. */
export function chunkOf({ artifact }: FactOf<'artifact-updated'>): Chunk | undefined {
  for (const part of artifact.parts) {
    const data = 'data' in part ? part.data : undefined;
    if (typeof data !== 'object' || data === null || !('chunk' in data)) continue;
    const { chunk, attempt } = data as { chunk: unknown; attempt?: unknown };
    if (typeof chunk === 'number')
      return { chunk, attempt: typeof attempt === 'number' ? attempt : undefined };
  }
  return undefined;
}

/** Within one attempt of a turn, an artifact's numbers go up by one; and they come from the attempt that is open. */
export function* checkChunks({ facts }: KeptLog, read: typeof chunkOf = chunkOf): Generator<Finding> {
  let attempt = 0;
  let last = new Map<string, number>();
  for (const { fact, version } of facts) {
    if (fact.type === 'turn-started') {
      attempt = fact.attempt;
      last = new Map();
    }
    const found = fact.type === 'artifact-updated' ? read(fact) : undefined;
    if (fact.type !== 'artifact-updated' || !found) continue;
    const { artifactId } = fact.artifact;
    const before = last.get(artifactId);
    const here = `chunk ${found.chunk} of ${artifactId} at ${version}`;
    if (found.attempt !== undefined && found.attempt !== attempt) {
      yield ['doubleTurns', `${here} is from attempt ${found.attempt}, during attempt ${attempt}`];
    } else if (before !== undefined && found.chunk === before) yield ['duplicated', `${here} is there again`];
    else if (before !== undefined && found.chunk < before)
      yield ['reordered', `${here} follows chunk ${before}`];
    else if (before !== undefined && found.chunk > before + 1)
      yield ['lost', `${here} follows chunk ${before}`];
    last.set(artifactId, Math.max(before ?? found.chunk, found.chunk));
  }
}
