import { A2AError, isPermanent } from '@batonjs/protocol/errors';
import { backoffMs } from '@batonjs/protocol/timing';
import { isoTime } from '../../base/timing/clock.ts';
import { derivedTaskId, labelOfSchedule } from '../accept/receive.ts';
import { scopeOf } from '../call/call-context.ts';
import type { DueTimes } from './due-times.ts';
import type { Missed, RecurringTask, RunningSchedules, ScheduleSource } from './recurring-task.ts';
import { isSameSchedule, type RecordedSchedule, scheduleRecord, withForm } from './schedule-record.ts';

/** A due time is missed that was not started for so many milliseconds. */
export const missedAfterMs = 60_000;
/** The longest sleep: the wall clock may be set meanwhile. */
const longestSleepMs = 5_000;
/** The pauses after failures. */
const backoff = { initialMs: 250, jitter: 0 };
/** For how long a schedule is remembered after its name got other times. */
const replacedForMs = 7 * 86_400_000;

/** A task with its times and its defaults. */
export interface CompleteTask {
  readonly task: RecurringTask;
  readonly times: DueTimes;
  readonly timezone: string;
  readonly missed: Missed;
}

/** Starts the tasks at their times, until it is closed. */
export function runSchedules(tasks: readonly CompleteTask[], source: ScheduleSource): RunningSchedules {
  const closing = new AbortController();
  const runs = tasks.map((task) => scheduleRun(task, source, closing.signal));
  const running = source.isAsked ? [] : runs.map((one) => one.run());
  return {
    due: async (ending) => Math.min(...(await Promise.all(runs.map((one) => one.due(ending))))),
    async close() {
      closing.abort();
      await Promise.all(running);
    },
  };
}

/** The work for a due time. */
interface Step {
  /** The due time. */
  readonly dueAt: number;
  /** Whether its task starts, or it was missed. */
  readonly starts: boolean;
  /** Whether due times before it were missed. */
  readonly passesOver?: boolean;
}

/** One schedule in one process. */
function scheduleRun(own: CompleteTask, source: ScheduleSource, closing: AbortSignal) {
  const { submit, queue, clock, logger, report } = source;
  const { task, times, timezone, missed } = own;
  const { name, cron, message, caller, tenant } = task;
  const scope = caller && scopeOf(queue, tenant, caller);
  const record = scheduleRecord(source, name, scope);
  const fields = { name, cron, timezone, missed };
  const logged = { schedule: name };
  /** All due times up to here are done with, as far as this process knows. */
  let through = 0;

  /** Tries again, after pauses that grow, until it succeeds or the server closes. */
  async function untilDone(work: () => Promise<void>): Promise<void> {
    for (let failures = 1; !closing.aborted; failures++) {
      try {
        return await work();
      } catch (error) {
        if (!closing.aborted && !A2AError.is(error, 'UNAVAILABLE'))
          report('A recurring task could not be started, and is tried again', { ...logged, error });
        await clock.sleep(backoffMs(failures, backoff), closing, 'idle');
      }
    }
  }

  /** Finds out which due times are done with. A schedule that the store does not know, or not with these times, begins now. */
  async function begin(): Promise<void> {
    const now = clock.now();
    let wrong: string | undefined;
    await record.change((schedules) => {
      const own = schedules.find((schedule) => isSameSchedule(schedule, fields));
      // While the name had other times, those of this schedule were not missed.
      through = own ? Math.max(...schedules.map((schedule) => throughAt(schedule, now))) : now;
      const upTo = isoTime(through);
      wrong = own && own.through > upTo ? own.through : undefined;
      const recent = schedules.filter((one) => one === own || Date.parse(one.since) >= now - replacedForMs);
      const isSame = recent.length === schedules.length && own?.through === upTo && own.missed === missed;
      if (isSame && schedules.every(({ since }) => since <= own.since)) return undefined;
      const { passed: _, ...known } = own ?? {};
      return withForm(recent, { ...known, ...fields, since: isoTime(now), through: upTo });
    });
    if (wrong !== undefined)
      logger('warn', 'A clock was ahead: due times that it passed over are taken up again', {
        ...logged,
        from: isoTime(through),
        to: wrong,
      });
  }

  /** Starts the task of the first due time that is not done with, or passes over those that were missed. */
  async function catchUp(): Promise<void> {
    const schedules = await record.read();
    const known = schedules.find((schedule) => isSameSchedule(schedule, fields));
    const now = clock.now();
    if (known && throughAt(known, now) < Date.parse(known.through)) await begin();
    else through = known ? Date.parse(known.through) : Math.min(through, now);
    const step = nextStep();
    if (!step || closing.aborted) return;
    const after = isoTime(through);
    const dueAt = isoTime(step.dueAt);
    const taskId = step.starts ? await start(dueAt) : undefined;
    await record.change((schedules) => {
      const own = schedules.find((schedule) => isSameSchedule(schedule, fields));
      if (own && own.through >= dueAt) return undefined;
      const latest = taskId === undefined ? own?.latest : { dueAt, taskId };
      const passed = step.passesOver ? { after, to: dueAt } : own?.passed;
      const more = { ...(passed && { passed }), ...(latest && { latest }) };
      return withForm(schedules, { ...fields, since: own?.since ?? dueAt, through: dueAt, ...more });
    });
    through = step.dueAt;
  }

  /** Undefined if nothing is due. */
  function nextStep(): Step | undefined {
    const now = clock.now();
    const next = times.next(through);
    if (next === undefined || next > now) return undefined;
    if (missed === 'all' || now - next <= missedAfterMs) return { dueAt: next, starts: true };
    const last = Math.max(next, times.latest(now - missedAfterMs - 1) ?? next);
    const passed = missed === 'last' ? 'all but the last one' : 'all';
    logger('warn', `Times of a recurring task were missed: ${passed} are passed over`, {
      ...logged,
      from: isoTime(next),
      to: isoTime(last),
    });
    return { dueAt: last, starts: missed === 'last', passesOver: true };
  }

  /** Resolves to the id of the task; undefined if the server refuses the message, now and later. */
  async function start(dueAt: string): Promise<string | undefined> {
    const messageId = `schedule:${name}:${dueAt}`;
    const taskId = derivedTaskId(scopeOf(queue, tenant, caller), messageId);
    try {
      await submit({
        messageId,
        parts: typeof message === 'string' ? [{ text: message }] : message,
        metadata: { schedule: { name, dueAt } },
        label: labelOfSchedule(name),
        caller,
        tenant,
      });
      return taskId;
    } catch (error) {
      // Another process started it, with other words of another version.
      if (A2AError.is(error, 'MESSAGE_ID_CONFLICT')) return taskId;
      if (!A2AError.is(error) || !isPermanent(error)) throw error;
      logger('error', 'A recurring task was refused', { ...logged, dueAt, error });
      return undefined;
    }
  }

  return {
    /** Never rejects. */
    async run(): Promise<void> {
      await untilDone(begin);
      while (!closing.aborted) {
        const next = times.next(through);
        const ms = next === undefined ? longestSleepMs : next - clock.now();
        if (ms > 0) await clock.sleep(Math.min(ms, longestSleepMs), closing, 'idle');
        // The clock may have been set back meanwhile.
        if (ms <= 0 || through > clock.now()) await untilDone(catchUp);
      }
    },

    /** Starts the tasks whose time has come, and resolves to the next due time. Rejects if the store fails. */
    async due(ending: AbortSignal): Promise<number> {
      if (through === 0) await begin();
      for (;;) {
        const next = times.next(through) ?? Number.POSITIVE_INFINITY;
        if (next > clock.now() || ending.aborted) return next;
        await catchUp();
      }
    },
  };
}

/**
 * Up to where the due times of a schedule are done with, in milliseconds since 1970. A time beyond now is only true where
 * tasks were started up to it, one after the other: by a clock that was set back since. What a clock that was ahead passed
 * over, or began with, has not come yet.
 */
export function throughAt({ since, through, passed }: RecordedSchedule, now: number): number {
  const end = Date.parse(through);
  if (end <= now) return end;
  if (Date.parse(since) > now) return now;
  return passed && Date.parse(passed.to) > now ? Math.min(Date.parse(passed.after), now) : end;
}
