import { admit, type Committed, factsInOrder, granted, mustHaveRoom } from '@batonjs/store';
import type { Keys } from '../layout/keys.ts';
import { type PushRow, planned, pushWrites, queuesToNotify } from '../webhooks/push-row.ts';
import type { Compare, RequestOp } from '../wire/messages.ts';
import { unchanged } from './known-tasks.ts';
import type { PreparedCommit } from './prepared-commit.ts';
import type { KnownTask } from './task-cache.ts';
import { moves } from './task-indexes.ts';
import { isSameTurn, logValue, sinceOf, type TaskRow, turnValue } from './task-row.ts';

/** The value of `once/<task>/<key>`. */
export interface OnceValue {
  /** Position of the first fact of the commit that counted, and of the last. */
  readonly first: number;
  readonly last: number;
  readonly commitId: string;
}

/** The moment at which a commit is decided. */
export interface Moment {
  /** Milliseconds of the wall clock. */
  readonly now: number;
  /** The time of the clock for leases. */
  readonly leaseNow: number;
  /** How many tasks wait in the commit's queue, if it bounds them. */
  readonly waiting: number;
}

/** What a commit writes, if what it was decided on is still so. */
export interface CommitPlan {
  readonly committed: Committed;
  readonly compare: readonly Compare[];
  readonly writes: readonly RequestOp[];
  /** The facts as JSON, in a member of their own: they may be kept in parts. */
  readonly entry: { readonly key: string; readonly json: string } | undefined;
  /** The row as it is afterwards. `turnRevision` is 0 if the commit writes that key. */
  readonly task: TaskRow;
  readonly pushes: PushRow | undefined;
  readonly writesPushes: boolean;
  /** Queues in which something can be claimed now. */
  readonly queues: readonly string[];
}

/** Decides a commit. Throws the `StoreError` that it is refused with. */
export function planCommit(
  keys: Keys,
  { commit, task, facts, lastAt, snapshot }: PreparedCommit,
  known: KnownTask,
  { now, leaseNow, waiting }: Moment,
): CommitPlan {
  const { scope, taskId, commitId, once, turn } = commit;
  const before = known.task;
  const row = admit(before?.row, commit, leaseNow);
  mustHaveRoom(row, commit, () => waiting);

  const ordered = facts === undefined ? factsInOrder(commit, before?.lastAt) : undefined;
  const length = commit.facts.length;
  const first = (before?.row.version ?? 0) + 1;
  const after: TaskRow = {
    scope,
    taskId,
    row,
    lastAt: ordered?.at(-1)?.at ?? lastAt ?? before?.lastAt ?? '',
    snapshot: snapshot?.version ?? before?.snapshot,
    snapshotParts: snapshot ? undefined : before?.snapshotParts,
    since: sinceOf(row, before?.since, now),
    commitId,
    logRevision: 0,
    turnRevision: 0,
  };
  const keepsTurn = before !== undefined && isSameTurn(before, after);

  const compare = [
    unchanged(keys.log(task), before?.logRevision ?? 0),
    unchanged(keys.turn(task), before?.turnRevision ?? 0),
    unchanged(keys.pushes(task), known.pushes?.revision ?? 0),
  ];
  const writes: RequestOp[] = [...moves(keys, task, before, after)];
  if (!keepsTurn) writes.push({ put: { key: keys.turn(task), value: turnValue(after) } });
  if (once !== undefined) {
    const value = JSON.stringify({ first, last: row.version, commitId } satisfies OnceValue);
    compare.push(unchanged(keys.once(task, once), 0));
    writes.push({ put: { key: keys.once(task, once), value } });
  }
  const queues = turn?.want && after.since !== undefined ? [row.queue!] : [];
  const webhooks = known.pushes && planned(known.pushes.webhooks, row.version, now);
  const writesPushes = webhooks !== known.pushes?.webhooks;
  if (known.pushes && webhooks) {
    writes.push(...pushWrites(keys, task, known.pushes.webhooks, { ...known.pushes, webhooks }));
    queues.push(...queuesToNotify(webhooks, now));
  }
  const json = facts ?? JSON.stringify(ordered);
  return {
    committed: { version: row.version, lease: granted(row, commit) },
    compare,
    writes,
    entry:
      length === 0
        ? undefined
        : {
            key: keys.fact(task, row.version),
            json: `{"commitId":${JSON.stringify(commitId)},"first":${first},"facts":${json}}`,
          },
    task: { ...after, ...(keepsTurn && { turnRevision: before.turnRevision, commitId: before.commitId }) },
    pushes: known.pushes && webhooks && { ...known.pushes, webhooks },
    writesPushes,
    queues,
  };
}

/** The write of `log/<task>`, which comes last: the snapshot may have been kept in parts. */
export const logWrite = (keys: Keys, task: string, row: TaskRow): RequestOp => ({
  put: { key: keys.log(task), value: logValue(row) },
});
