import type { Found, TaskRow, Wanted } from '@batonjs/store/adapter';
import { SortedList } from '../order/sorted-list.ts';

const atOf = ({ endedAt = 0 }: TaskRow): number => endedAt;

const endedFirst = (a: TaskRow, b: TaskRow): number => {
  if (a.endedAt !== b.endedAt) return atOf(a) - atOf(b);
  if (a.taskId !== b.taskId) return a.taskId < b.taskId ? -1 : 1;
  return a.scope === b.scope ? 0 : a.scope < b.scope ? -1 : 1;
};

/** The rows of logs that may be deleted, by `endedAt`. */
export class EndedRows {
  readonly #rows = new SortedList<TaskRow>(endedFirst);

  /** Called for every row that replaces another; undefined stands for a log that is new or gone. */
  replace(before: TaskRow | undefined, after: TaskRow | undefined): void {
    if (before?.endedAt !== undefined) this.#rows.remove(before);
    if (after?.endedAt !== undefined) this.#rows.add(after);
  }

  /** The first ones before a time. */
  first({ before, limit }: NonNullable<Wanted['ended']>): NonNullable<Found['ended']> {
    return this.#rows.first(limit, (row) => atOf(row) < before);
  }
}
