import assert from 'node:assert/strict';
import { type Fact, type Head, headOf, replay, type Snapshot, toSnapshot } from '@batonjs/lifecycle';
import type { Commit, Committed, StoredLog, TaskStore } from '@batonjs/store';
import { chunk, created, received } from './facts.ts';

let commits = 0;

/** An id that no other commit has. */
export const freshCommitId = (): string => `commit-${++commits}`;

/** A writer of one log, which knows its length while there is no other writer. */
export interface Log {
  readonly scope: string;
  readonly taskId: string;
  readonly contextId: string;
  readonly queue: string;
  /** The head of each commit has them from now on. */
  labels: readonly string[] | undefined;
  readonly version: number;
  readonly head: Head | undefined;
  /** The head after these facts. */
  headAfter(facts: readonly Fact[]): Head;
  /** The commit that would add these facts now. */
  prepare(facts: readonly Fact[], more?: Partial<Commit>): Commit;
  /** Adds facts at the known end of the log. */
  commit(facts: readonly Fact[], more?: Partial<Commit>): Promise<Committed>;
  /** Starts the log as a task: two facts. */
  create(more?: Partial<Commit>): Promise<Committed>;
  /** The same, and resolves to this writer. */
  started(more?: Partial<Commit>): Promise<Log>;
  /** Appends wherever the log ends, without knowing afterwards where that is. */
  append(fact: Fact, once?: string, more?: Partial<Commit>): Promise<Committed>;
  /** Reads the length of the log. */
  catchUp(): Promise<void>;
  /** Fails if the store has no such log. */
  load(): Promise<StoredLog>;
}

/** A writer of the log of a task through this store. */
export function logOf(
  store: TaskStore,
  {
    scope = 's',
    taskId = 't',
    contextId = 'c',
    queue = 'q',
  }: Partial<Pick<Log, 'scope' | 'taskId' | 'contextId' | 'queue'>> = {},
): Log {
  let version = 0;
  let head: Head | undefined;
  const after = (facts: readonly Fact[], labels: readonly string[] | undefined) => ({
    ...headAfter(head, facts),
    ...(labels && { labels }),
  });
  return {
    scope,
    taskId,
    contextId,
    queue,
    labels: undefined,
    get version() {
      return version;
    },
    get head() {
      return head;
    },
    headAfter(facts) {
      return after(facts, this.labels);
    },
    prepare(facts, more) {
      const commitId = freshCommitId();
      const headed = facts.length > 0 ? { head: this.headAfter(facts) } : {};
      return { scope, taskId, commitId, expectedVersion: version, facts, ...headed, ...more };
    },
    async commit(facts, more) {
      const commit = this.prepare(facts, more);
      const committed = await store.commit(commit);
      if (committed.repeated) return committed;
      version = committed.version;
      head = commit.head ?? head;
      return committed;
    },
    create(more) {
      return this.commit([received('m1', contextId), created(taskId, contextId)], more);
    },
    async started(more) {
      await this.create(more);
      return this;
    },
    async append(fact, once = freshCommitId(), more) {
      const commitId = freshCommitId();
      return store.commit({ scope, taskId, commitId, expectedVersion: 'open', facts: [fact], once, ...more });
    },
    async catchUp() {
      const log = await this.load();
      const after = log.facts.filter((stored) => stored.version > log.head.version);
      head = headAfter(
        log.head,
        after.map(({ fact }) => fact),
      );
      version = log.version;
    },
    load: async () => present(await store.load(scope, taskId), `log of task ${taskId}`),
  };
}

/** The head of a log after more facts. Fails if the log is empty then. */
export function headAfter(head: Head | undefined, facts: readonly Fact[]): Head {
  let next = head;
  for (const fact of facts) next = headOf(next, fact);
  return present(next, 'head of an empty log');
}

/** The value. Fails if it is missing: there is no `what`. */
export function present<T>(value: T | undefined, what: string): T {
  assert.ok(value !== undefined, `There is no ${what}`);
  return value;
}

/** The element at an index. Fails if the list is too short. */
export const nth = <T>(list: readonly T[], index: number): T =>
  present(list[index], `element ${index} in a list of ${list.length}`);

/** A snapshot of a log of this many facts, two or more. */
export function snapshotAt(version: number): Snapshot {
  const chunks: Fact[] = Array.from({ length: version - 2 }, (_, n) => chunk(n + 1));
  return toSnapshot(present(replay([received(), created(), ...chunks]), 'task'));
}
