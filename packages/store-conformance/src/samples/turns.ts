import type { Fact } from '@batonjs/lifecycle';
import type { Commit, Lease, TaskStore } from '@batonjs/store';
import type { Log } from './log.ts';

/** Longer than any check takes, in milliseconds. */
export const long = 60_000;

/** What a commit of the queue `q` has that wants a turn. */
export const wanted = { turn: { queue: 'q', want: true } };

/** What a commit has that takes the lease of its task. */
export const acquire = (holder: string, ttlMs = long) => ({
  turn: { queue: 'q', acquire: { holder, ttlMs } },
});

/** What a commit has that gives it back. */
export const release = (want?: boolean) => ({ turn: { queue: 'q', release: true, want } });

/** Who writes by the first lease of a task. */
export const writer = (holder: string, fence = 1) => ({ writer: { fence, holder } });

/** A lease of the task `t` as it is given out. */
export const lease = (holder: string, fence: number, cause: Lease['cause']): Lease => ({
  ...{ scope: 's', taskId: 't', queue: 'q' },
  ...{ holder, fence, cause },
});

/** The time as heads write it, of milliseconds since 1970. */
export const iso = (ms: number): string => new Date(ms).toISOString();

/** The head after these facts, of a task that is due at a time in milliseconds since 1970. */
export const dueAfter = (log: Log, facts: readonly Fact[], dueAt: number): Pick<Commit, 'head'> => ({
  head: { ...log.headAfter(facts), dueAt: iso(dueAt) },
});

/** Claims the turns of the queue `q`, ten at most, unless `more` says otherwise. */
export const claim = (
  store: TaskStore,
  holder: string,
  more: Partial<Parameters<TaskStore['claim']>[0]> = {},
) => store.claim({ queue: 'q', holder, ttlMs: long, limit: 10, ...more });
