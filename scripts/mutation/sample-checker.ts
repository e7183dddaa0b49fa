/** A checker for Stryker that lets only a random sample of the mutations be tried, the same for the same seed. */
import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import type { Sample } from './result.ts';

interface Mutation {
  readonly id: string;
  readonly fileName: string;
  readonly location: unknown;
  readonly mutatorName: string;
  readonly replacement: string;
}

/** Orders mutations at random. Names no folder: the copy that Stryker mutates is elsewhere each time. */
const rankOf = (seed: string, { fileName, location, mutatorName, replacement }: Mutation): string =>
  createHash('sha256')
    .update(JSON.stringify([seed, basename(fileName), location, mutatorName, replacement]))
    .digest('hex');

/** The ids of the sample, each in a group of its own, and those of all other mutations in one group. */
export function grouped(mutations: readonly Mutation[], { size, seed }: Sample): string[][] {
  const ranked = mutations
    .map((mutation) => ({ id: mutation.id, rank: rankOf(seed, mutation) }))
    .sort((a, b) => (a.rank < b.rank ? -1 : 1))
    .map(({ id }) => id);
  // A single mutation that is left over would look like one of the sample.
  const end = ranked.length === size + 1 ? ranked.length : size;
  const rest = ranked.slice(end);
  return [...ranked.slice(0, end).map((id) => [id]), ...(rest.length > 0 ? [rest] : [])];
}

class SampleChecker {
  static readonly inject = [] as const;

  init(): void {}

  group(mutations: readonly Mutation[]): string[][] {
    return grouped(mutations, JSON.parse(process.env.BATON_SAMPLE ?? '{}') as Sample);
  }

  /** Stryker has no status for what is not tried. No other checker runs, so this one cannot be confused. */
  check(group: readonly Mutation[]): Record<string, { status: string; reason?: string }> {
    const result =
      group.length === 1 ? { status: 'passed' } : { status: 'compileError', reason: 'not in the sample' };
    return Object.fromEntries(group.map(({ id }) => [id, result]));
  }
}

/** Read by Stryker. */
export const strykerPlugins = [{ kind: 'Checker', name: 'sample', injectableClass: SampleChecker }];
