import type { RecordStore, Scope } from '@batonjs/store';
import { allRecords, changeRecord, recordName } from '../../base/store/records.ts';
import type { Missed } from './recurring-task.ts';

/** A schedule as a store remembers it. Times are ISO 8601, UTC, milliseconds. */
export interface RecordedSchedule {
  readonly name: string;
  readonly cron: string;
  readonly timezone: string;
  readonly missed: Missed;
  /** When a process began to follow it in this form. */
  readonly since: string;
  /** Every due time up to here is done with: a task was started for it, or it was missed. */
  readonly through: string;
  /** The latest due times that were passed over: those after one time and before another one. */
  readonly passed?: { readonly after: string; readonly to: string };
  /** The task of the latest due time for which one was started. */
  readonly latest?: { readonly dueAt: string; readonly taskId: string };
}

/** The schedules of one name: one for each form that it had of late. */
type Forms = readonly RecordedSchedule[];

/** Whether two are the same schedule: one that got other times is another one. */
export const isSameSchedule = (
  one: Pick<RecordedSchedule, 'name' | 'cron' | 'timezone'>,
  other: Pick<RecordedSchedule, 'name' | 'cron' | 'timezone'>,
): boolean => one.name === other.name && one.cron === other.cron && one.timezone === other.timezone;

/** The schedules of a queue in its store, by their names. */
export async function recordedSchedules(store: RecordStore, queue: string): Promise<RecordedSchedule[]> {
  const records = await allRecords(store, { prefix: recordName('schedules', queue, '') });
  return records.flatMap(({ value }) => value as Forms);
}

/** Forgets all schedules of a name. Resolves to whether there was one. */
export const forgetRecorded = (store: RecordStore, queue: string, name: string): Promise<boolean> =>
  store.deleteRecord(recordName('schedules', queue, name));

/** The schedules of one name in the store of a queue. Those of a caller are erased with it. */
export function scheduleRecord(
  { queue, store }: { queue: string; store: RecordStore },
  schedule: string,
  scope?: Scope,
) {
  const name = recordName('schedules', queue, schedule);
  return {
    read: async (): Promise<Forms> => ((await store.getRecord(name))?.value as Forms | undefined) ?? [],
    /** Writes what `decide` makes of the schedules as they are; nothing for undefined. Decides again if another process wrote. */
    change: (decide: (schedules: Forms) => Forms | undefined): Promise<void> =>
      changeRecord<Forms>(store, name, (schedules = []) => decide(schedules), { scope }),
  };
}

/** The forms with this one in its place. */
export const withForm = (schedules: Forms, form: RecordedSchedule): Forms => [
  ...schedules.filter((one) => !isSameSchedule(one, form)),
  form,
];
