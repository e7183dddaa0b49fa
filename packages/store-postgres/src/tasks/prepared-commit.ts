import type { Commit } from '@batonjs/store';
import { keyOf } from '../database/keys.ts';

/** A commit as it was when it was given: the caller may change its facts, head and snapshot afterwards. */
export interface PreparedCommit {
  readonly commit: Commit;
  readonly key: string;
  readonly onceKey: string | undefined;
  readonly facts: readonly string[];
  /** The `at` of the last fact. */
  readonly lastAt: string | undefined;
  readonly snapshot: { readonly version: number; readonly json: string } | undefined;
  /** How many characters its facts and its snapshot have. */
  readonly size: number;
}

export function prepareCommit(commit: Commit): PreparedCommit {
  const { scope, taskId, once, snapshot } = commit;
  const facts = commit.facts.map((fact) => JSON.stringify(fact));
  const kept = snapshot && { version: snapshot.version, json: JSON.stringify(snapshot) };
  return {
    commit: {
      ...commit,
      facts: commit.expectedVersion === 'open' ? facts.map((json) => JSON.parse(json)) : [...commit.facts],
      head: commit.head && { ...commit.head },
    },
    key: keyOf(scope, taskId),
    onceKey: once === undefined ? undefined : keyOf(once),
    facts,
    lastAt: commit.facts.at(-1)?.at,
    snapshot: kept,
    size: facts.reduce((size, fact) => size + fact.length, kept?.json.length ?? 0),
  };
}
