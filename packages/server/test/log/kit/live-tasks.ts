import type { TaskStore } from '@batonjs/store';
import { systemClock } from '../../../src/base/timing/clock.ts';
import { LiveTasks } from '../../../src/log/live-tasks.ts';
import type { LogDependencies } from '../../../src/log/report-lost-facts.ts';

/** The live tasks of one process, which reads them only when it is notified. */
export const liveTasks = (store: TaskStore, more: Partial<LogDependencies> = {}): LiveTasks =>
  new LiveTasks({
    store,
    clock: systemClock,
    timeouts: { storeMs: 5_000, sweepMs: Number.POSITIVE_INFINITY },
    logger: () => {},
    report: () => {},
    ...more,
  });
