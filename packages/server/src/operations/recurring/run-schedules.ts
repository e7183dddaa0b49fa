import { A2AError, isPermanent } from '@batonjs/protocol/errors';
import { backoffMs } from '@batonjs/protocol/timing';
import { isoTime } from '../../base/timing/clock.ts';
import { derivedTaskId, labelOfSchedule } from '../accept/receive.ts';
import { scopeOf } from '../call/call-context.ts';
import type { DueTimes } from './due-times.ts';
import type { Missed, RecurringTask, RunningSchedules, ScheduleSource } from './recurring-task.ts';
import { isSameSchedule, type RecordedSchedule, ScheduleRecord, withForm } from './schedule-record.ts';

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
  const runs = tasks.map((task) => new ScheduleRun(task, source, closing.signal));
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
class ScheduleRun {
  readonly #own: CompleteTask;
  readonly #record: ScheduleRecord;
  readonly #source: ScheduleSource;
  readonly #closing: AbortSignal;
  /** All due times up to here are done with, as far as this process knows. */
  #through = 0;

  constructor(own: CompleteTask, source: ScheduleSource, closing: AbortSignal) {
    const { name, caller, tenant } = own.task;
    this.#own = own;
    const scope = caller && scopeOf(source.queue, tenant, caller);
    this.#record = new ScheduleRecord(source, name, scope);
    this.#source = source;
    this.#closing = closing;
  }

  /** Never rejects. */
  async run(): Promise<void> {
    const { clock } = this.#source;
    await this.#untilDone(() => this.#begin());
    while (!this.#closing.aborted) {
      const next = this.#own.times.next(this.#through);
      const ms = next === undefined ? longestSleepMs : next - clock.now();
      if (ms > 0) await clock.sleep(Math.min(ms, longestSleepMs), this.#closing, 'idle');
      // The clock may have been set back meanwhile.
      if (ms <= 0 || this.#through > clock.now()) await this.#untilDone(() => this.#catchUp());
    }
  }

  /** Starts the tasks whose time has come, and resolves to the next due time. Rejects if the store fails. */
  async due(ending: AbortSignal): Promise<number> {
    if (this.#through === 0) await this.#begin();
    for (;;) {
      const next = this.#own.times.next(this.#through) ?? Number.POSITIVE_INFINITY;
      if (next > this.#source.clock.now() || ending.aborted) return next;
      await this.#catchUp();
    }
  }

  /** Tries again, after pauses that grow, until it succeeds or the server closes. */
  async #untilDone(work: () => Promise<void>): Promise<void> {
    const { clock, report } = this.#source;
    for (let failures = 1; !this.#closing.aborted; failures++) {
      try {
        return await work();
      } catch (error) {
        if (!this.#closing.aborted && !A2AError.is(error, 'UNAVAILABLE'))
          report('A recurring task could not be started, and is tried again', { ...this.#logged, error });
        await clock.sleep(backoffMs(failures, backoff), this.#closing, 'idle');
      }
    }
  }

  /** Finds out which due times are done with. A schedule that the store does not know, or not with these times, begins now. */
  async #begin(): Promise<void> {
    const { missed } = this.#own;
    const { clock, logger } = this.#source;
    const now = clock.now();
    let wrong: string | undefined;
    await this.#record.change((schedules) => {
      const own = schedules.find((schedule) => isSameSchedule(schedule, this.#fields));
      // While the name had other times, those of this schedule were not missed.
      this.#through = own ? Math.max(...schedules.map((schedule) => throughAt(schedule, now))) : now;
      const through = isoTime(this.#through);
      wrong = own && own.through > through ? own.through : undefined;
      const recent = schedules.filter((one) => one === own || Date.parse(one.since) >= now - replacedForMs);
      const isSame = recent.length === schedules.length && own?.through === through && own.missed === missed;
      if (isSame && schedules.every(({ since }) => since <= own.since)) return undefined;
      const { passed: _, ...known } = own ?? {};
      return withForm(recent, { ...known, ...this.#fields, since: isoTime(now), through });
    });
    if (wrong !== undefined)
      logger('warn', 'A clock was ahead: due times that it passed over are taken up again', {
        ...this.#logged,
        from: isoTime(this.#through),
        to: wrong,
      });
  }

  /** Starts the task of the first due time that is not done with, or passes over those that were missed. */
  async #catchUp(): Promise<void> {
    const schedules = await this.#record.read();
    const known = schedules.find((schedule) => isSameSchedule(schedule, this.#fields));
    const now = this.#source.clock.now();
    if (known && throughAt(known, now) < Date.parse(known.through)) await this.#begin();
    else this.#through = known ? Date.parse(known.through) : Math.min(this.#through, now);
    const step = this.#step();
    if (!step || this.#closing.aborted) return;
    const after = isoTime(this.#through);
    const dueAt = isoTime(step.dueAt);
    const taskId = step.starts ? await this.#start(dueAt) : undefined;
    await this.#record.change((schedules) => {
      const own = schedules.find((schedule) => isSameSchedule(schedule, this.#fields));
      if (own && own.through >= dueAt) return undefined;
      const latest = taskId === undefined ? own?.latest : { dueAt, taskId };
      const passed = step.passesOver ? { after, to: dueAt } : own?.passed;
      const more = { ...(passed && { passed }), ...(latest && { latest }) };
      return withForm(schedules, { ...this.#fields, since: own?.since ?? dueAt, through: dueAt, ...more });
    });
    this.#through = step.dueAt;
  }

  /** Undefined if nothing is due. */
  #step(): Step | undefined {
    const { times, missed } = this.#own;
    const now = this.#source.clock.now();
    const next = times.next(this.#through);
    if (next === undefined || next > now) return undefined;
    if (missed === 'all' || now - next <= missedAfterMs) return { dueAt: next, starts: true };
    const last = Math.max(next, times.latest(now - missedAfterMs - 1) ?? next);
    const passed = missed === 'last' ? 'all but the last one' : 'all';
    this.#source.logger('warn', `Times of a recurring task were missed: ${passed} are passed over`, {
      ...this.#logged,
      from: isoTime(next),
      to: isoTime(last),
    });
    return { dueAt: last, starts: missed === 'last', passesOver: true };
  }

  /** Resolves to the id of the task; undefined if the server refuses the message, now and later. */
  async #start(dueAt: string): Promise<string | undefined> {
    const { submit, queue, logger } = this.#source;
    const { name, message, caller, tenant } = this.#own.task;
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
      logger('error', 'A recurring task was refused', { ...this.#logged, dueAt, error });
      return undefined;
    }
  }

  get #fields(): Pick<RecordedSchedule, 'name' | 'cron' | 'timezone' | 'missed'> {
    const { task, timezone, missed } = this.#own;
    return { name: task.name, cron: task.cron, timezone, missed };
  }

  get #logged() {
    return { schedule: this.#own.task.name };
  }
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
