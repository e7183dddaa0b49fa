import type { TaskState } from '@batonjs/protocol';

/** A task that a schedule started. */
export interface ScheduledTask {
  readonly id: string;
  readonly state: TaskState;
  /** When its status changed last: ISO 8601. */
  readonly at: string;
  /** Which of the agent's scopes: its index. */
  readonly scope: number;
}

/** Work that recurs, as the store of its agent knows it. Times are ISO 8601. */
export interface Schedule {
  readonly name: string;
  readonly cron: string;
  readonly timezone: string;
  /** What becomes of times that no process started: `skip`, `last` or `all`. */
  readonly missed: string;
  /** The first due time that is not done with; absent if none ever comes. */
  readonly nextAt?: string;
  /** That time is over: no process has this schedule, or none can start its task. */
  readonly isOverdue: boolean;
  /** The due time for which a task was started last. */
  readonly latestAt?: string;
  /** The label that all its tasks have. */
  readonly label: string;
  /** The latest tasks, newest first, of the callers that the inspector may show. */
  readonly tasks: readonly ScheduledTask[];
}

export interface AgentSchedules {
  /** Id of the agent. */
  readonly agent: string;
  readonly schedules: readonly Schedule[];
  /** Why the store could not be read. */
  readonly problem?: string;
}
