import { SNAPSHOT_FORMAT } from '@batonjs/lifecycle/internals';
import { mustBeWhole } from '../load-task.ts';
import { type Answer, whenAnswered } from '../port/answer.ts';
import type { StoredFact, StoredLog } from '../port/commit.ts';
import type { TaskName } from '../port/names.ts';
import { diverged, StoreError } from '../port/store-error.ts';
import { deletionOf, isDeletedStep, isDeletion } from '../rules/prune.ts';
import { foundRecord } from '../rules/record.ts';
import { readRecord } from './in-parts.ts';
import type { KeptFacts, KeptLog, Rows } from './rows.ts';

/**
 * The log of a task as callers see it: without a snapshot that only a newer release reads. Throws `UNREADABLE` if a fact is
 * missing.
 */
export const storedLog = <Json>(
  rows: Rows<Json>,
  scope: string,
  taskId: string,
): Answer<StoredLog | undefined> =>
  whenAnswered(rows.log(scope, taskId), (kept) => {
    if (!kept?.snapshot || !(kept.snapshot.format > SNAPSHOT_FORMAT)) return logOf(kept);
    const { row } = kept;
    return whenAnswered(rows.facts(scope, taskId, 0, row.version), ({ version, facts }) =>
      version === 0 ? undefined : logOf({ row, facts }),
    );
  });

function logOf(kept: KeptLog | undefined): StoredLog | undefined {
  if (!kept) return undefined;
  const { row, snapshot, facts } = kept;
  const { head, version } = row;
  if (!head) return undefined;
  const log = { head, version, ...(snapshot && { snapshot }), facts };
  mustBeWhole(log);
  return log;
}

/** Reads facts as `TaskStore.readFacts` says. */
export function readFacts<Json>(
  rows: Rows<Json>,
  { scope, taskId }: TaskName,
  after: number,
  limit: number,
  lastCommitId: string | undefined,
): Answer<readonly StoredFact[]> {
  if (lastCommitId === undefined)
    return whenAnswered(rows.facts(scope, taskId, after, limit), (kept) =>
      contiguous(taskId, after, limit, kept),
    );
  return whenAnswered(rows.facts(scope, taskId, after - 1, limit + 1), ({ version, facts }) => {
    const [known, ...rest] = facts;
    if (known?.version === after && known.commitId === lastCommitId)
      return contiguous(taskId, after, limit, { version, facts: rest });
    return whenAnswered(isDeleted(rows, { scope, taskId }), (isGone): never => {
      throw isGone ? new StoreError('LOG_DELETED', `Task ${taskId} was deleted`) : diverged(taskId, after);
    });
  });
}

/** Whether a log was deleted lately. */
const isDeleted = <Json>(rows: Rows<Json>, task: TaskName): Answer<boolean> =>
  whenAnswered(
    readRecord(rows, deletionOf(task), task.taskId),
    (found) => isDeletion(foundRecord(found), found) || rows.change(isDeletedStep(deletionOf(task))),
  );

function contiguous(
  taskId: string,
  after: number,
  limit: number,
  { version, facts }: KeptFacts,
): readonly StoredFact[] {
  const isMissing = facts.length === 0 && limit > 0 && version > after;
  if (isMissing || facts.some((fact, n) => fact.version !== after + n + 1))
    throw new StoreError('LOG_GAP', `The facts of task ${taskId} after ${after} are not kept any more`);
  return facts;
}
