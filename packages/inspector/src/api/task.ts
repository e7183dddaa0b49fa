import type { TaskState } from '@batonjs/protocol';

/** A person who was asked a question by a link. */
export interface Assignee {
  readonly by: string;
  /** Until when the link takes an answer: ISO 8601. */
  readonly expiresAt: string;
}

/** A task in the list. */
export interface TaskRow {
  readonly id: string;
  readonly contextId: string;
  readonly state: TaskState;
  /** When the status changed last: ISO 8601. Absent if the agent does not say. */
  readonly statusAt?: string;
  /**
   * What it is about, in a line of at most 120 characters: its label that begins with `title:`, else its first message.
   * Absent while it is not known.
   */
  readonly title?: string;
  /** When its first message came: ISO 8601. Absent if the agent does not say. */
  readonly startedAt?: string;
  /** When it is due without a message: ISO 8601; known from a store only. */
  readonly dueAt?: string;
  /** Without the one that is its title. */
  readonly labels?: readonly string[];
  /** The code with which it failed. */
  readonly code?: string;
  /** The text of the status' message, at most 200 characters. */
  readonly text?: string;
  /** Who was asked its question by links; known from a store only. Absent if no one was. */
  readonly assignees?: readonly Assignee[];
  /** The version that its turn waits for, which no process runs; known from a store only. */
  readonly waitsFor?: string;
  /** The length of the log; known from a store only. */
  readonly version?: number;
  /** The label of the caller, where the agent has several, and the index of the scope; absent: 0. */
  readonly caller?: string;
  readonly scope?: number;
  /** The number of the latest turn and of its attempt; known from a store only. */
  readonly turn?: number;
  readonly attempt?: number;
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

/** Which tasks are listed. All conditions must hold. */
export interface TaskFilter {
  readonly state?: ListedState;
  readonly contextId?: string;
  /** Only tasks with all of these labels. */
  readonly labels?: readonly string[];
  /** Only tasks with none of these labels; one that ends with `*` is the beginning of a label. */
  readonly notLabels?: readonly string[];
  /** Only tasks that took longer than so many milliseconds, or with `-` before them shorter. */
  readonly took?: number;
  /** Only tasks for the skill with this id. */
  readonly skill?: string;
  /** Only tasks that failed with this code. */
  readonly code?: string;
  /**
   * Part of a task's id, its title or the text of its status, in any case; or beginnings of words of its first message, where
   * the store searches those.
   */
  readonly text?: string;
  /** Only tasks whose status is at most so many milliseconds old. */
  readonly maxAgeMs?: number;
  /** Only tasks whose turns wait for a version that no process runs. */
  readonly unserved?: true;
  /** Only tasks of this caller, by the label of its scope; `scope` counts for nothing then. */
  readonly caller?: string;
  /** Which of the agent's scopes: its index. Absent: all of them. */
  readonly scope?: number;
}

/** One page of the list. */
export interface TaskList {
  readonly tasks: readonly TaskRow[];
  /** How many match; absent if the agent does not say, or while an id is searched for. */
  readonly total?: number;
  /** Where the next page starts. */
  readonly next?: string;
  /** `live`: changes are pushed; `polled`: the agent is asked; `seen`: the agent has no list, only tasks of this inspector. */
  readonly source: 'live' | 'polled' | 'seen';
  /** A text was searched in the first messages of all tasks. */
  readonly searchesTexts?: true;
  /** How many tasks were looked through one by one, newest first, and of how many; absent where an index has all of them. */
  readonly searched?: { readonly tasks: number; readonly of?: number };
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
