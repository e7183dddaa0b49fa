import type { TaskRow as ListedRow, RowList, TaskSearch } from '@batonjs/operator/search';
import type { TaskState } from '@batonjs/protocol';

export type { Assignee } from '@batonjs/operator/search';

/** A task in the list. */
export interface TaskRow extends ListedRow {
  /** The version that its turn waits for, which no process runs; known from a store only. */
  readonly waitsFor?: string;
  /** The index of the scope; absent: 0. */
  readonly scope?: number;
}

/** The states that tasks can be listed by. */
export const states = [
  'TASK_STATE_SUBMITTED',
  'TASK_STATE_WORKING',
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_AUTH_REQUIRED',
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_REJECTED',
] as const satisfies readonly TaskState[];

/** A state that tasks can be listed by. */
export type ListedState = (typeof states)[number];

/** Which tasks are listed. All conditions must hold; `scope` counts for nothing where there is a `caller`. */
export interface TaskFilter extends TaskSearch {
  readonly state?: ListedState;
  readonly contextId?: string;
  /** Only tasks whose status is at most so many milliseconds old. */
  readonly maxAgeMs?: number;
  /** Only tasks whose turns wait for a version that no process runs. */
  readonly unserved?: true;
  /** Which of the agent's scopes: its index. Absent: all of them. */
  readonly scope?: number;
}

/** One page of the list. */
export interface TaskList extends RowList<TaskRow> {
  /** `live`: changes are pushed; `polled`: the agent is asked; `seen`: the agent has no list, only tasks of this inspector. */
  readonly source: 'live' | 'polled' | 'seen';
}

/** How many tasks are in each state; states that are not known are absent. */
export type StateCounts = Partial<Record<TaskState, number>>;

/** Tasks whose turns wait for versions that no process runs. */
export interface Unserved {
  /** The name of the agent in its store. */
  readonly queue: string;
  /** How many wait for each version, at most 100 of each. */
  readonly versions: readonly { readonly version: string; readonly tasks: number }[];
}

/** A line of the feed of a list, about the tasks of one agent. */
export type TaskListUpdate = { readonly agent: string } & (
  | { readonly type: 'list'; readonly list: TaskList }
  | { readonly type: 'counts'; readonly counts: StateCounts }
  /** Sent once there are some, and whenever they change. */
  | { readonly type: 'unserved'; readonly unserved: Unserved }
  | { readonly type: 'problem'; readonly message: string }
);
