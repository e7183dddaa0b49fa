import type { Head } from '@batonjs/lifecycle';
import type { TaskStore } from '@batonjs/store';
import type { Logger, ReportFailure } from '../base/hooks/logger.ts';
import type { Timeouts } from '../base/timeouts.ts';
import type { Clock } from '../base/timing/clock.ts';

/** The objects and times that all live tasks of a process share. */
export interface LogDependencies {
  /** Answers within `timeouts.storeMs`. */
  readonly store: TaskStore;
  readonly clock: Clock;
  readonly timeouts: Pick<Timeouts, 'storeMs' | 'sweepMs'>;
  readonly logger: Logger;
  /** How much longer than others a task is kept that ends with this head; undefined: no task is. */
  readonly keptLonger?: ((head: Head) => number | undefined) | undefined;
  /** Logs the errors of background work. */
  readonly report: ReportFailure;
}
