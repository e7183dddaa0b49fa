import type { Head } from '@batonjs/lifecycle';
import type { TaskStore } from '@batonjs/store';
import type { Logger, ReportFailure } from '../base/hooks/logger.ts';
import type { Clock } from '../base/timing/clock.ts';

/** The objects and times that all live tasks of a process share. */
export interface LogDependencies {
  /** Answers within `storeTimeoutMs`. */
  readonly store: TaskStore;
  readonly clock: Clock;
  /** How long one store call may take, in milliseconds. */
  readonly storeTimeoutMs: number;
  /** How often the sweep polls the store in case a notification was lost, in milliseconds. `Infinity`: never. */
  readonly sweepEveryMs: number;
  readonly logger: Logger;
  /** How much longer than others a task is kept that ends with this head; undefined: no task is. */
  readonly keptLonger?: ((head: Head) => number | undefined) | undefined;
  /** Logs the errors of background work. */
  readonly report: ReportFailure;
}
