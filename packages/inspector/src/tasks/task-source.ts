import type { StateCounts, TaskFilter, TaskList, TaskRow, Unserved } from '../api/task.ts';
import { hasText } from './filters.ts';

/** Where the list of an agent's tasks comes from. */
export interface TaskSource {
  /** One page, newest first. `after` is the `next` of the page before. */
  list(filter: TaskFilter, after?: string): Promise<TaskList>;
  /** How many tasks are in each state, whatever the filter of the list. */
  counts(scope?: number): Promise<StateCounts>;
  /** The tasks of a scope that wait for versions which no process runs. Absent where only an agent is asked. */
  unserved?(scope?: number): Promise<Unserved>;
  /** How often the first page is read again, in milliseconds. */
  readonly everyMs: number;
}

/** How many tasks are looked through for a text before the reader has to ask for more. */
const searchedAtOnce = 2_000;

/** A page as an agent or a store has it. */
export interface FoundPage {
  readonly rows: readonly TaskRow[];
  readonly total: number | undefined;
  /** Where the next page starts; undefined or empty if none follows. */
  readonly next: string | undefined;
}

/** Reads a page; with a text, pages until enough rows have it. */
export async function readPages(
  read: (after: string | undefined) => Promise<FoundPage>,
  text: string,
  after: string | undefined,
  enough: number,
): Promise<Omit<TaskList, 'source'>> {
  const tasks: TaskRow[] = [];
  let place = after;
  for (let searched = 0; ; ) {
    const { rows, total, next } = await read(place);
    tasks.push(...(text ? rows.filter(hasText(text)) : rows));
    searched += rows.length;
    if (text && next && tasks.length < enough && searched < searchedAtOnce) {
      place = next;
      continue;
    }
    return { tasks, ...(!text && total !== undefined && { total }), ...(next && { next }) };
  }
}

/** The text of a status in a row. */
export const shortText = (text: string): string => (text.length > 200 ? `${text.slice(0, 199)}…` : text);
