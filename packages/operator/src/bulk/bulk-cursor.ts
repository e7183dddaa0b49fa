import type { TaskState } from '@batonjs/protocol';
import { invalidParams } from '@batonjs/protocol/errors';
import { isoTime } from '@batonjs/server/internals';
import type { TaskQuery } from '@batonjs/store';
import type { BulkAction, BulkRequest } from './bulk.ts';

/** How far a run is: plain JSON. */
export interface BulkCursor {
  /** Which of the scopes; absent: the first one. */
  readonly scope?: number;
  /**
   * Pass 0 meets the tasks that a process whose clock is ahead has dated after the run, and the first pass all that are
   * older than the run. While it goes on, a task may change and so move to the front of the list, behind which the pass is.
   * Each further pass meets those that changed since the one before began.
   */
  readonly pass: number;
  /** Since when tasks may have changed without being met: milliseconds since 1970. */
  readonly since: number;
  /** When the pass began: milliseconds since 1970. */
  readonly beganAt: number;
  /** Which of the states. */
  readonly state: number;
  /** The last task that was met in this state. */
  readonly after?: NonNullable<TaskQuery['after']>;
  /** How many tasks this pass has done something to. */
  readonly changed: number;
  readonly done: number;
  readonly skipped: number;
  readonly failed: number;
}

export const firstCursor: BulkCursor = {
  pass: 0,
  since: 0,
  beganAt: 0,
  state: 0,
  changed: 0,
  done: 0,
  skipped: 0,
  failed: 0,
};

const open = ['SUBMITTED', 'WORKING', 'INPUT_REQUIRED', 'AUTH_REQUIRED'].map(stateNamed);
const ended = ['COMPLETED', 'FAILED', 'CANCELED', 'REJECTED'].map(stateNamed);

function stateNamed(name: string): TaskState {
  return `TASK_STATE_${name}` as TaskState;
}

/** Which states an action can be asked for: the others never have anything to do. */
const possible: Readonly<Record<BulkAction, readonly TaskState[]>> = {
  cancel: open,
  delete: ended,
  fork: [...open, ...ended],
  'retry-webhooks': [...open, ...ended],
};

/** The states that a run looks for, one after another. Throws `INVALID_PARAMS` for one that the action never fits. */
export function statesOf({ action, state }: BulkRequest): readonly TaskState[] {
  const states = possible[action];
  if (!states)
    throw invalidParams([{ field: 'action', description: `is one of ${Object.keys(possible).join(', ')}` }]);
  if (state === undefined) return states;
  if (!states.includes(state))
    throw invalidParams([{ field: 'state', description: `no task in ${state} can get a ${action}` }]);
  return [state];
}

/** A task that ended never moves in a list again: only the first pass looks for it. */
export const isMoving = (state: TaskState): boolean => open.includes(state);

const pageSize = 100;

/** The next page of a run in one of its states. */
export function pageQuery(
  { contextId, labels, skill, code, since }: BulkRequest,
  state: TaskState,
  { pass, after, since: changedSince }: BulkCursor,
  startedAt: number,
): TaskQuery {
  const first = pass === 1 ? { statusAt: isoTime(startedAt + 1), taskId: '0' } : undefined;
  const changed = pass === 0 ? startedAt + 1 : pass === 1 ? 0 : changedSince;
  const from = Math.max(since ?? 0, changed);
  const start = after ?? first;
  return {
    state,
    limit: pageSize,
    totalAtMost: 1,
    ...(contextId !== undefined && { contextId }),
    ...(labels && labels.length > 0 && { labels }),
    ...(skill !== undefined && { skill }),
    ...(code !== undefined && { code }),
    ...(from > 0 && { statusSince: isoTime(from) }),
    ...(start && { after: start }),
  };
}
