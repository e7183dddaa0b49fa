import type { StateCounts, Stranded, TaskFilter, TaskList } from '../api/task.ts';

/** Where the list of an agent's tasks comes from. */
export interface TaskSource {
  /** One page, newest first. `after` is the `next` of the page before. */
  list(filter: TaskFilter, after?: string): Promise<TaskList>;
  /** How many tasks are in each state, whatever the filter of the list. */
  counts(scope?: number): Promise<StateCounts>;
  /** The tasks of a scope that wait for versions which no process runs. Absent where only an agent is asked. */
  stranded?(scope?: number): Promise<Stranded>;
  /** How often the first page is read again, in milliseconds. */
  readonly everyMs: number;
}

/** Tasks on a page. */
export const pageSize = 100;

/** How many tasks are looked through for an id before the reader has to ask for more. */
export const searchedAtOnce = 2_000;

/** The text of a status in a row. */
export const shortText = (text: string): string => (text.length > 200 ? `${text.slice(0, 199)}…` : text);
