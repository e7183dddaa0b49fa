import { mustKnowOptions, type OptionNames } from '@batonjs/protocol/options';
import type { RecordStore } from '@batonjs/store';
import { dueTimes } from './due-times.ts';
import type { Missed, RecurringTask, Schedules } from './recurring-task.ts';
import { type CompleteTask, missedAfterMs, runSchedules, throughAt } from './run-schedules.ts';
import { forgetRecorded, type RecordedSchedule, recordedSchedules } from './schedule-record.ts';

export type { Missed, RecurringTask, RunningSchedules, ScheduleSource, Schedules } from './recurring-task.ts';

/**
 * Recurring work, for `schedules` of a server: each due time starts one task, whichever processes are there. Throws
 * `TypeError` for tasks that cannot work.
 */
export function recurring(tasks: readonly RecurringTask[]): Schedules {
  if (!Array.isArray(tasks)) throw new TypeError('`recurring` takes an array of tasks');
  const complete = tasks.map(completeTask);
  const names = new Set<string>();
  for (const { name } of tasks) {
    if (names.has(name)) throw new TypeError(`Two recurring tasks are called "${name}"`);
    names.add(name);
  }
  return { tasks, start: (source) => runSchedules(complete, source) };
}

/** A schedule as the store of its agent knows it. Times are ISO 8601, UTC, milliseconds. */
export interface ScheduleStatus extends Omit<RecordedSchedule, 'through' | 'passed'> {
  /** The first due time that is not done with; absent if none ever comes. */
  readonly nextAt?: string;
  /** That time is over by more than a minute: no process has this schedule, or none can start its task. */
  readonly isOverdue: boolean;
}

/** The schedules that servers of an agent had, by name, as its store knows them. `agent`: its `name` there. Changes nothing. */
export async function schedulesIn(
  store: RecordStore,
  agent = 'agent',
  now = Date.now(),
): Promise<readonly ScheduleStatus[]> {
  const latest = new Map<string, RecordedSchedule>();
  for (const schedule of await recordedSchedules(store, agent)) {
    const known = latest.get(schedule.name);
    if (!known || known.since < schedule.since) latest.set(schedule.name, schedule);
  }
  const named = [...latest.values()].toSorted((one, other) => (one.name < other.name ? -1 : 1));
  return named.map((recorded) => {
    const { through: _, passed: __, ...schedule } = recorded;
    const next = dueTimes(schedule.cron, schedule.timezone).next(throughAt(recorded, now));
    const isOverdue = next !== undefined && next < now - missedAfterMs;
    return { ...schedule, ...(next !== undefined && { nextAt: new Date(next).toISOString() }), isOverdue };
  });
}

/**
 * Forgets a schedule that no server has any more, so that it is not overdue forever. One that a server has comes back
 * with its next due time. Resolves to whether there was one.
 */
export const forgetSchedule = (store: RecordStore, agent: string, name: string): Promise<boolean> =>
  forgetRecorded(store, agent, name);

const names: OptionNames<RecurringTask> = {
  name: true,
  cron: true,
  timezone: true,
  message: true,
  missed: true,
  caller: true,
  tenant: true,
};

const policies: readonly Missed[] = ['skip', 'last', 'all'];

function completeTask(task: RecurringTask): CompleteTask {
  const { name, cron, timezone = 'UTC', missed = 'last', message, caller } = task;
  if (typeof name !== 'string' || !/^[\w.-]{1,48}$/.test(name))
    throw new TypeError(
      `The name of a recurring task is 1 to 48 letters, digits, dots, hyphens and underscores, and not ${JSON.stringify(name)}`,
    );
  mustKnowOptions(task, names, name);
  const refuse = (reason: string): never => {
    throw new TypeError(`The recurring task "${name}" ${reason}`);
  };
  if (!policies.includes(missed)) refuse("needs `missed` to be 'skip', 'last' or 'all'");
  if (message === '' || !(typeof message === 'string' || (Array.isArray(message) && message.length > 0)))
    refuse('needs a `message`: text, or parts');
  if (caller !== undefined && !caller.scope) refuse('needs a `scope` of its `caller`');
  try {
    return { task, times: dueTimes(cron, timezone), timezone, missed };
  } catch (error) {
    throw new TypeError(`The recurring task "${name}" has no times: ${(error as Error).message}`, {
      cause: error,
    });
  }
}
