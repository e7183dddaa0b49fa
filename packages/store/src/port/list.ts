import type { Head } from '@batonjs/lifecycle';
import type { TaskState } from '@batonjs/protocol';
import type { StoredFact } from './commit.ts';

/** Which tasks of a scope are listed. All conditions must hold. `rules/list.ts` says what each means. */
export interface TaskFilter {
  readonly contextId?: string;
  readonly state?: TaskState;
  /** Only tasks whose status is this old or newer: ISO 8601, UTC, milliseconds. Inclusive. */
  readonly statusSince?: string;
  /** Include logs that were answered with a message and never became a task. */
  readonly answered?: boolean;
  /** Only tasks with all of these labels. */
  readonly labels?: readonly string[];
  /** Only tasks one of whose messages named the skill with this id. */
  readonly skill?: string;
  /** Only tasks that failed with this code. */
  readonly code?: string;
  /**
   * Only tasks whose first message has words that begin with all words of this, whatever their case and accents; see
   * `wordsOf`. Only at stores with `searchesText`: others refuse the list.
   */
  readonly text?: string;
}

/** Which part of the tasks that are listed a page shows. */
export interface TaskQuery extends TaskFilter {
  /** At most so many, 1 or more. */
  readonly limit: number;
  /** About how many bytes of facts a page may hold, after its first task. Unset: any number. */
  readonly bytes?: number;
  /** Where the previous page ended. */
  readonly after?: { readonly statusAt: string; readonly taskId: string };
  /** The caller needs no larger `total` than this, so that the store may stop counting there. Unset: an exact one. */
  readonly totalAtMost?: number;
}

/** A task on a page. */
export interface ListedTask {
  readonly taskId: string;
  readonly head: Head;
  /** The fact at `head.statusVersion`; absent if it is damaged, so that the rest of the page can be read. */
  readonly fact?: StoredFact;
}

export interface TaskPage {
  /** Newest `statusAt` first, ties by task id (by code unit or by byte), both descending. */
  readonly tasks: readonly ListedTask[];
  /** How many match on all pages. With `totalAtMost`: as many, or any number from `totalAtMost` to as many. */
  readonly total: number;
  /** The page ended before `limit` because of `bytes`, and other tasks follow. */
  readonly isCut?: true;
}
