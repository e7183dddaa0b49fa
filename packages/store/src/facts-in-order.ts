import type { Fact } from '@batonjs/lifecycle';
import type { Commit } from './task-store.ts';

/**
 * The facts of a commit as a store keeps them. The writer of an open append does not know where the log ends, and its
 * clock may be behind: facts that are earlier than the one before them get that one's time. `lastAt`: the `at` of the
 * last fact of the log, if there is one. Pure; a store calls this inside its transaction, after `admit`.
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
