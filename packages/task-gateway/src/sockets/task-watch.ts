import { StoreError } from '@batonjs/store';
import type { TaskProgressReport } from '../tasks/gateway-task.ts';
import type { TaskAddress, TaskLog } from '../tasks/task-log.ts';
import { isFinal } from '../tasks/view.ts';

/** Updates of one task that are kept in memory for its readers. */
const mostRecent = 32;
/** Updates that a reader gets at a time. */
export const updatesPerRead = 100;

/** The log of one task, read once for all sockets of this process that subscribed to it. */
export class TaskWatch {
  readonly address: TaskAddress;
  readonly listeners = new Set<() => void>();
  readonly #log: TaskLog;
  #recent: readonly TaskProgressReport[];
  /** `#recent` has every update after this sequence. */
  #floor: number;
  #reading: Promise<void> | undefined;
  #isStale = false;

  constructor(log: TaskLog, address: TaskAddress, now: TaskProgressReport) {
    this.#log = log;
    this.address = address;
    this.#recent = [now];
    this.#floor = now.sequence - 1;
  }

  get latest(): TaskProgressReport {
    return this.#recent.at(-1)!;
  }

  /** Up to `updatesPerRead` updates after a sequence. Updates that the store does not keep any more are left out. */
  async updatesAfter(after: number): Promise<readonly TaskProgressReport[]> {
    if (after >= this.#floor) {
      const recent = this.#recent;
      return after >= this.latest.sequence ? [] : recent.filter(({ sequence }) => sequence > after);
    }
    try {
      const { transitions } = await this.#log.history(this.address, after, updatesPerRead);
      return transitions;
    } catch (error) {
      if (StoreError.is(error, 'LOG_GAP')) return [this.latest];
      throw error;
    }
  }

  /** Reads new updates and calls the listeners if there are any. One read at a time; a call during one repeats it. */
  refresh(): Promise<void> {
    if (isFinal(this.latest)) return Promise.resolve();
    this.#isStale = true;
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #read(): Promise<void> {
    while (this.#isStale) {
      this.#isStale = false;
      const { transitions } = await this.#log.history(this.address, this.latest.sequence, updatesPerRead);
      if (transitions.length === 0) continue;
      this.#isStale = true;
      const all = [...this.#recent, ...transitions];
      const dropped = all.length - mostRecent;
      if (dropped > 0) this.#floor = all[dropped - 1]!.sequence;
      this.#recent = dropped > 0 ? all.slice(dropped) : all;
      for (const listener of this.listeners) listener();
    }
  }
}
