import type { Part } from '@batonjs/protocol';
import type { Caller } from '../../agent/caller.ts';
import type { StoreSource } from '../../base/store/records.ts';

/** Work that recurs: each due time starts one task, whichever processes are there. */
export interface RecurringTask {
  /**
   * Names it in the store and in the label of its tasks, `schedule:<name>`: 1 to 48 letters, digits, dots, hyphens and
   * underscores.
   */
  readonly name: string;
  /** When: five fields of cron, six with seconds before them, or a nickname such as `@hourly`. */
  readonly cron: string;
  /** The time zone of the fields, such as `Europe/Berlin`. Default `UTC`. */
  readonly timezone?: string;
  /** What the agent is told: text, or parts. */
  readonly message: string | readonly Part[];
  /**
   * What becomes of times that no process started within a minute: `skip` starts nothing for them, `last` one task for
   * the latest of them, `all` one for each. Default `last`.
   */
  readonly missed?: Missed;
  /** Whose tasks they are. Default: those of callers without authentication. */
  readonly caller?: Pick<Caller, 'scope' | 'claims'>;
  readonly tenant?: string;
}

/** What becomes of due times that no process started in time. */
export type Missed = 'skip' | 'last' | 'all';

/** Recurring work, for `schedules` of a server. Made by `recurring` of `@batonjs/server/schedules`. */
export interface Schedules {
  readonly tasks: readonly RecurringTask[];
  /** Called by the server. */
  start(source: ScheduleSource): RunningSchedules;
}

/** The schedules of a server that runs. */
export interface RunningSchedules {
  /** Starts the tasks whose time has come. Resolves to the next due time, in milliseconds since 1970. Rejects if the store fails. */
  due(ending: AbortSignal): Promise<number>;
  /** Starts nothing more. Resolves when the task that is being started is recorded. */
  close(): Promise<void>;
}

/** What schedules need of their server. */
export interface ScheduleSource extends StoreSource {
  readonly queue: string;
  /** Whether they start nothing by themselves: the server calls `due`. */
  readonly isAsked?: boolean;
  /** Starts the task of a due time, or finds out that it was started before. Rejects with an `A2AError`. */
  submit(due: DueTask): Promise<void>;
}

/** The message of a due time. */
export interface DueTask {
  readonly messageId: string;
  readonly parts: readonly Part[];
  readonly metadata: { readonly schedule: { readonly name: string; readonly dueAt: string } };
  readonly label: string;
  readonly caller: Caller | undefined;
  readonly tenant: string | undefined;
}
