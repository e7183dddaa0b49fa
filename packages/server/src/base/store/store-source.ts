import type { TaskStore } from '@batonjs/store';
import type { Logger, ReportFailure } from '../hooks/logger.ts';
import type { Clock } from '../timing/clock.ts';

/** The parts of a process that its work on the store depends on. */
export interface StoreSource {
  /** Answers each call within `timeouts.storeMs`. */
  readonly store: TaskStore;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Logs the errors of background work. */
  readonly report: ReportFailure;
}
