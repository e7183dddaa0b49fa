import { FACT_FORMAT, type Fact, type Head, headOf } from '@batonjs/lifecycle';
import { type StoredLog, StoreError, type TaskStore } from '@batonjs/store';
import { newId } from '../../base/system/new-id.ts';
import { type Clock, isoTime } from '../../base/timing/clock.ts';
import type { Missed } from './recurring-task.ts';

/** The scope of the logs in which a store remembers schedules. No caller has it: theirs are JSON or a hash. */
const scope = 'baton:schedules';

/** How many facts a log has at most: then the next one begins. */
const mostFacts = 64;

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

type Change = { readonly set: RecordedSchedule } | { readonly remove: RecordedSchedule };

/** What a fact of a log says: its number and all schedules in the first one, one change in others, the end in the last. */
interface Entry {
  readonly log?: number;
  readonly schedules?: readonly RecordedSchedule[];
  readonly change?: Change;
  readonly isEnd?: true;
}

/** The schedules of a queue as they are in the store. */
interface Recorded {
  readonly number: number;
  readonly version: number;
  readonly head: Head;
  readonly at: string;
  readonly isEnd: boolean;
  readonly schedules: readonly RecordedSchedule[];
}

/** Whether two are the same schedule: one that got other times is another one. */
export const isSameSchedule = (
  one: Pick<RecordedSchedule, 'name' | 'cron' | 'timezone'>,
  other: Pick<RecordedSchedule, 'name' | 'cron' | 'timezone'>,
): boolean => one.name === other.name && one.cron === other.cron && one.timezone === other.timezone;

/**
 * The schedules of a queue in its store: a log of changes that is replaced by the next one when it has become long. Two
 * logs take turns, of which the one with the higher number counts.
 */
export class ScheduleRecord {
  readonly #queue: string;
  readonly #store: TaskStore;
  readonly #clock: Clock;

  constructor({ queue, store, clock }: { queue: string; store: TaskStore; clock: Clock }) {
    this.#queue = queue;
    this.#store = store;
    this.#clock = clock;
  }

  async read(): Promise<readonly RecordedSchedule[]> {
    return (await this.#latest())?.schedules ?? [];
  }

  /** Writes what `decide` makes of the schedules as they are; nothing for undefined. Decides anew if another process wrote. */
  async change(decide: (schedules: readonly RecordedSchedule[]) => Change | undefined): Promise<void> {
    for (;;) {
      const recorded = await this.#latest();
      if (recorded?.isEnd) {
        await this.#replace(recorded);
        continue;
      }
      const change = decide(recorded?.schedules ?? []);
      if (!change) return;
      const schedules = changed(recorded?.schedules ?? [], change);
      const isFull = recorded && this.#store.erase && recorded.version >= mostFacts;
      const entries: Entry[] = recorded
        ? [{ change }, ...(isFull ? [{ isEnd: true } as const] : [])]
        : [{ log: 1, schedules }];
      if (await this.#write(recorded?.number ?? 1, entries, recorded)) return;
    }
  }

  async #latest(): Promise<Recorded | undefined> {
    const [even, odd] = await Promise.all([this.#load(0), this.#load(1)]);
    return even && odd ? (even.number > odd.number ? even : odd) : (even ?? odd);
  }

  /** Begins the log after one that has ended. Whichever process comes first does it, and any may finish it. */
  async #replace(ended: Recorded): Promise<void> {
    const number = ended.number + 1;
    // A process that was stopped in the middle of this may have left an older one in its place.
    await this.#eraseBefore(number, number);
    await this.#write(number, [{ log: number, schedules: ended.schedules }]);
    await this.#eraseBefore(number, ended.number);
  }

  /** False if another process wrote meanwhile. */
  async #write(number: number, entries: readonly Entry[], after?: Recorded): Promise<boolean> {
    return this.#commit(
      number,
      after,
      entries.map((entry) => this.#fact('message-received', entry, after?.at)),
    );
  }

  async #commit(number: number, after: Recorded | undefined, facts: readonly Fact[]): Promise<boolean> {
    const head = facts.reduce<Head | undefined>(headOf, after?.head);
    try {
      await this.#store.commit({
        scope,
        taskId: this.#idOf(number),
        commitId: newId(this.#clock),
        expectedVersion: after?.version ?? 0,
        facts,
        ...(head && { head }),
      });
      return true;
    } catch (error) {
      if (StoreError.is(error, 'VERSION_CONFLICT') || StoreError.is(error, 'LOG_CLOSED')) return false;
      throw error;
    }
  }

  /** Deletes the log in the place of `place`, if its number is lower than `number`. */
  async #eraseBefore(number: number, place: number): Promise<void> {
    const log = await this.#load(place);
    if (!log || log.number >= number) return;
    if (!log.head.closed) await this.#commit(place, log, [this.#fact('answered', { isEnd: true }, log.at)]);
    // Another process may have replaced it meanwhile; a closed log does not change, and no open one is erased.
    const closed = await this.#load(place);
    if (closed?.head.closed && closed.number < number) await this.#store.erase?.(scope, this.#idOf(place));
  }

  async #load(place: number): Promise<Recorded | undefined> {
    const log = await this.#store.load(scope, this.#idOf(place));
    return log && recordedIn(log);
  }

  #idOf(number: number): string {
    return `${this.#queue}:${number % 2}`;
  }

  #fact(type: 'message-received' | 'answered', entry: Entry, notBefore = ''): Fact {
    const now = isoTime(this.#clock.now());
    const parts = [{ text: JSON.stringify(entry) }];
    const message = {
      messageId: newId(this.#clock),
      contextId: 'schedules',
      role: 'ROLE_AGENT' as const,
      parts,
    };
    return { format: FACT_FORMAT, at: notBefore > now ? notBefore : now, type, message };
  }
}

function changed(schedules: readonly RecordedSchedule[], change: Change): readonly RecordedSchedule[] {
  const about = 'set' in change ? change.set : change.remove;
  const others = schedules.filter((schedule) => !isSameSchedule(schedule, about));
  return 'set' in change ? [...others, change.set] : others;
}

function recordedIn({ facts, version, head }: StoredLog): Recorded {
  let schedules: readonly RecordedSchedule[] = [];
  let number = 0;
  let isEnd = false;
  for (const { fact } of facts) {
    const [part] = fact.type === 'message-received' || fact.type === 'answered' ? fact.message.parts : [];
    const entry: Entry = JSON.parse(part && 'text' in part ? part.text : '{}');
    number = entry.log ?? number;
    schedules = entry.schedules ?? (entry.change ? changed(schedules, entry.change) : schedules);
    isEnd ||= entry.isEnd === true;
  }
  return { number, version, head, at: facts.at(-1)?.fact.at ?? '', isEnd, schedules };
}
