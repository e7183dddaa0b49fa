import type { Commit } from '@batonjs/store';
import { digestOf } from '../layout/digest.ts';

/** A commit as it was when it was given: the caller may change its facts, head and snapshot afterwards. */
export interface PreparedCommit {
  readonly commit: Commit;
  /** The digest of scope and task id. */
  readonly task: string;
  /** The facts as JSON, unless they are appended where the log ends: their times are not known yet. */
  readonly facts: string | undefined;
  readonly lastAt: string | undefined;
  readonly snapshot: { readonly version: number; readonly json: string } | undefined;
}

export function prepareCommit(commit: Commit): PreparedCommit {
  const { scope, taskId, snapshot } = commit;
  const json = JSON.stringify(commit.facts);
  const isOpen = commit.expectedVersion === 'open';
  return {
    commit: {
      ...commit,
      facts: isOpen ? JSON.parse(json) : [...commit.facts],
      head: commit.head && { ...commit.head },
    },
    task: digestOf(scope, taskId),
    facts: isOpen ? undefined : json,
    lastAt: commit.facts.at(-1)?.at,
    snapshot: snapshot && { version: snapshot.version, json: JSON.stringify({ snapshot }) },
  };
}
