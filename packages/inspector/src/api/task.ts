import { transitions } from '@batonjs/lifecycle/internals';
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

/** A state that tasks can be listed by. */
export type ListedState = Exclude<TaskState, 'TASK_STATE_UNSPECIFIED'>;

/** The states that tasks can be listed by. */
export const states = (Object.keys(transitions) as ListedState[]).filter(
  (state) => !state.endsWith('UNSPECIFIED'),
);

/** Which tasks are listed, as the app asks for them. All conditions must hold. */
export interface ListQuery {
  /** What a person typed: `readSearch` reads it. */
  readonly q?: string;
  readonly state?: ListedState | '';
  readonly contextId?: string;
  /** Only tasks whose status is at most so many milliseconds old. */
  readonly maxAgeMs?: number;
  /** Only tasks whose turns wait for a version that no process runs. */
  readonly unserved?: true;
  /** Which of the agent's scopes: its index. Absent: all of them. It counts for nothing where a caller is searched. */
  readonly scope?: number;
}

/** The same, as it was read. */
export type TaskFilter = TaskSearch & Omit<ListQuery, 'q'>;

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
