import type { Fact } from '@batonjs/lifecycle';
import type { Commit } from '../port/commit.ts';

/**
 * The facts of a commit as a store keeps them. The writer of an open append does not know the end of the log, and its
 * clock may be slow: a fact with an earlier time than the fact before it gets that fact's time. `lastAt`: the `at` of
 * the last fact of the log, if there is one. Pure; a store calls it inside its transaction, after `admit`.
 */
export function factsInOrder(
  { expectedVersion, facts }: Pick<Commit, 'expectedVersion' | 'facts'>,
  lastAt: string | undefined,
): readonly Fact[] {
  if (expectedVersion !== 'open') return facts;
  let latest = lastAt ?? '';
  return facts.map((fact) => {
    if (fact.at >= latest) {
      latest = fact.at;
      return fact;
    }
    return { ...fact, at: latest };
  });
}
