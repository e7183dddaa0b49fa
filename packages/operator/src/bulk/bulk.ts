import type { TaskState } from '@batonjs/protocol';
import type { ForkRequest } from '../fork-task.ts';

/** An action on many tasks. */
export type BulkAction = 'cancel' | 'fork' | 'retry-webhooks' | 'delete';

/** Which tasks of a caller: all conditions must hold, as they were when the run began. */
export interface BulkFilter {
  readonly state?: TaskState | undefined;
  readonly contextId?: string | undefined;
  /** All of these. */
  readonly labels?: readonly string[] | undefined;
  readonly skill?: string | undefined;
  /** The code with which they failed. */
  readonly code?: string | undefined;
  /** Only tasks whose status is this old or newer: milliseconds since 1970. */
  readonly since?: number | undefined;
}

/** A new run over many tasks. */
export interface BulkRequest extends BulkFilter {
  readonly action: BulkAction;
  /** For forks, as in `fork`. Default `'start'`. */
  readonly from?: ForkRequest['from'] | undefined;
  /** Who asked, for the record. */
  readonly by?: string | undefined;
}

/** How a run goes. */
export interface BulkPace {
  /** Says what would be done, and writes nothing: not even a record. Default false. */
  readonly dryRun?: boolean | undefined;
  /** At most so many tasks a second. Default: as fast as the store. */
  readonly perSecond?: number | undefined;
  /** Ends the run after the tasks that are under way. It can be resumed. */
  readonly signal?: AbortSignal | undefined;
}

/** What became of one task. */
export interface BulkOutcome {
  readonly taskId: string;
  /** `skipped`: there was nothing to do any more. */
  readonly outcome: 'done' | 'skipped' | 'failed';
  /** Why it failed, or why it was skipped. */
  readonly reason?: string;
  /** The id of its fork. */
  readonly forkId?: string;
}

/** How far a run is. */
export interface BulkProgress {
  /** The id of the run, to resume it; `''` where nothing is written. */
  readonly id: string;
  readonly action: BulkAction;
  /** How many tasks the filter found when the run began, or was resumed. New ones may be among them, which are left alone. */
  readonly total: number;
  readonly done: number;
  readonly skipped: number;
  readonly failed: number;
  /** Those since the progress before. */
  readonly tasks: readonly BulkOutcome[];
  /** Nothing is left. A run that ends without it can be resumed. */
  readonly isOver: boolean;
}
