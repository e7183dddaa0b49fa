import type { Logger } from '@batonjs/server';
import { StoreError, type Unsubscribe } from '@batonjs/store';
import { isFinal, type TaskProgressReport } from '../tasks/gateway-task.ts';
import type { TaskAddress, TaskLog } from '../tasks/task-log.ts';

interface Entry {
  readonly opening: Promise<TaskWatch | undefined>;
  unsubscribe: Unsubscribe | undefined;
  users: number;
}

export type TaskWatches = ReturnType<typeof taskWatches>;

/**
 * The tasks that sockets of this process subscribed to, each watched once. `sweepMs`: how often all of them are read in
 * case a notification was lost.
 */
export function taskWatches(tasks: TaskLog, logger: Logger, sweepMs = 5_000) {
  const entries = new Map<string, Entry>();
  let sweep: NodeJS.Timeout | undefined;
  let isSweeping = false;

  /** Watches a task for one more user, who closes it. Undefined if the task does not exist. */
  async function open(address: TaskAddress): Promise<TaskWatch | undefined> {
    const key = keyOf(address);
    let entry = entries.get(key);
    if (!entry) {
      const opening = start(address, () => created);
      const created: Entry = { opening, unsubscribe: undefined, users: 0 };
      entry = created;
      entries.set(key, entry);
      sweep ??= setInterval(() => void sweepAll(), sweepMs).unref();
    }
    entry.users += 1;
    try {
      const watch = await entry.opening;
      if (!watch) leave(key, entry);
      return watch;
    } catch (error) {
      leave(key, entry);
      throw error;
    }
  }

  function close({ address }: TaskWatch): void {
    const key = keyOf(address);
    const entry = entries.get(key);
    if (entry) leave(key, entry);
  }

  /** Ends all watches: no socket is told of anything any more. */
  function closeAll(): void {
    clearInterval(sweep);
    sweep = undefined;
    for (const { opening, unsubscribe } of entries.values()) {
      void unsubscribe?.();
      void opening.then(
        (watch) => watch?.listeners.clear(),
        () => {},
      );
    }
    entries.clear();
  }

  async function start(address: TaskAddress, entry: () => Entry): Promise<TaskWatch | undefined> {
    const read = await tasks.read(address);
    if (!read) return undefined;
    const { taskId: _, type: __, data: ___, ...now } = read.task;
    const watch = new TaskWatch(tasks, address, now);
    const topic = { scope: address.scope, taskId: address.id };
    const unsubscribe = await tasks.store.subscribe(topic, () => void refresh(watch));
    try {
      // After the subscription, or a commit before it would be missed.
      await watch.refresh();
      entry().unsubscribe = unsubscribe;
      return watch;
    } catch (error) {
      await unsubscribe();
      throw error;
    }
  }

  function leave(key: string, entry: Entry): void {
    entry.users -= 1;
    if (entry.users > 0 || entries.get(key) !== entry) return;
    entries.delete(key);
    void entry.unsubscribe?.();
    if (entries.size > 0) return;
    clearInterval(sweep);
    sweep = undefined;
  }

  function refresh(watch: TaskWatch): Promise<void> {
    // The next sweep reads it again.
    return watch.refresh().catch((err) => logger('warn', 'A watched task could not be read', { err }));
  }

  async function sweepAll(): Promise<void> {
    if (isSweeping) return;
    isSweeping = true;
    for (const { opening } of [...entries.values()]) {
      const watch = await opening.catch(() => undefined);
      if (watch) await refresh(watch);
    }
    isSweeping = false;
  }

  return { open, close, closeAll };
}

const keyOf = ({ scope, id }: TaskAddress): string => `${id} ${scope}`;

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
