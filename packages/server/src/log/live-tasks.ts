import { isPending, type Scope } from '@batonjs/store';
import { LiveTask } from './live-task.ts';
import { commitIdAt, type LogDependencies } from './report-lost-facts.ts';

/** Emptied when it is removed: a busy map holds on to removed entries for a while, see `LinkedList`. */
interface Entry {
  live: LiveTask | undefined;
  users: number;
}

/** The tasks that are in use in this process. A task without users is dropped. */
export class LiveTasks {
  readonly dependencies: LogDependencies;
  readonly #entries = new Map<string, Entry>();
  readonly #stop = new AbortController();
  readonly #checkIdentity: () => Promise<void>;
  /** Grows with each use of a task, such as by a message: calls that grew it may have left something to do. */
  uses = 0;

  constructor(dependencies: LogDependencies) {
    this.dependencies = dependencies;
    this.#checkIdentity = identityWatch(dependencies);
  }

  /** Begins to read new facts of other processes. */
  start(): void {
    void this.#sweep();
  }

  get size(): number {
    return this.#entries.size;
  }

  /**
   * The task as the store holds it now, or undefined. Rejects if the store cannot be read. The caller calls `release`
   * when it is done.
   */
  async open(scope: Scope, taskId: string): Promise<LiveTask | undefined> {
    for (;;) {
      if (!this.#find(keyOf(scope, taskId))) {
        const log = await this.dependencies.store.load(scope, taskId);
        if (!log) return undefined;
        // No facts were loaded if the snapshot covers them all.
        const last =
          log.facts.at(-1)?.commitId ??
          (await commitIdAt(this.dependencies.store, scope, taskId, log.version));
        // Another caller may have opened it meanwhile, on an older log.
        if (!this.#find(keyOf(scope, taskId)))
          return this.#use(
            keyOf(scope, taskId),
            () => new LiveTask(scope, taskId, this.dependencies, log, last),
          );
      }
      const live = this.begin(scope, taskId);
      try {
        await live.refresh();
        if (live.known) return live;
        this.release(live);
        return undefined;
      } catch (error) {
        this.release(live);
        // The log is gone, or lost facts that are known here. The task is what the store holds now: open it again.
        if (!live.isDiverged) throw error;
      }
    }
  }

  /** A task whose log does not exist yet, as far as this process knows. The caller calls `release` when it is done. */
  begin(scope: Scope, taskId: string): LiveTask {
    return this.#use(keyOf(scope, taskId), () => new LiveTask(scope, taskId, this.dependencies));
  }

  /** Adds a user to a task that is in use. The caller calls `release` once more. */
  retain(live: LiveTask): LiveTask {
    if (live.isDiverged) return live;
    return this.#use(keyOf(live.scope, live.taskId), () => live);
  }

  release(live: LiveTask): void {
    const key = keyOf(live.scope, live.taskId);
    const entry = this.#entries.get(key);
    if (entry?.live !== live || --entry.users > 0) return;
    this.#entries.delete(key);
    entry.live = undefined;
    const failed = (error: unknown) =>
      this.dependencies.report('Could not unsubscribe from a task', { taskId: live.taskId, error });
    try {
      const ended = live.unsubscribe();
      if (isPending(ended)) ended.catch(failed);
    } catch (error) {
      failed(error);
    }
  }

  /** The id of the message that a request of this process is adding to the task, if any. */
  arriving(scope: Scope, taskId: string): string | undefined {
    return this.#find(keyOf(scope, taskId))?.live?.arriving;
  }

  /** Ends the sweep and all cursors, also those of tasks that are opened later. */
  close(): void {
    this.#stop.abort();
    for (const { live } of this.#entries.values()) live?.endFollowing();
  }

  #use(key: string, make: () => LiveTask): LiveTask {
    this.uses++;
    const entry = this.#find(key);
    if (entry?.live) {
      entry.users++;
      return entry.live;
    }
    const live = make();
    // Of a request that came before the server closed: its follower would wait forever.
    if (this.#stop.signal.aborted) live.endFollowing();
    this.#entries.set(key, { live, users: 1 });
    return live;
  }

  /** After the store lost facts of a task, its users keep the live task they have; later callers get a new one. */
  #find(key: string): Entry | undefined {
    const entry = this.#entries.get(key);
    return entry?.live?.isDiverged ? undefined : entry;
  }

  /** Every `timeouts.sweepMs`, reads new facts of subscribed tasks, and whether the store is still the same one. */
  async #sweep(): Promise<void> {
    const { clock, timeouts } = this.dependencies;
    if (timeouts.sweepMs === Number.POSITIVE_INFINITY) return;
    await this.#checkIdentity();
    while (!this.#stop.signal.aborted) {
      await clock.sleep(timeouts.sweepMs, this.#stop.signal, 'idle');
      if (this.#stop.signal.aborted) return;
      const subscribed = [...this.#entries.values()].filter(({ live }) => live?.isSubscribed);
      await Promise.all([this.#checkIdentity(), ...subscribed.map(({ live }) => live?.sweep())]);
    }
  }
}

const keyOf = (scope: Scope, taskId: string): string => `${taskId}\n${scope}`;

/**
 * Logs when the data of the store was emptied or replaced while this process was running. What it returns reads the identity of
 * the store, with one cheap call, and never rejects: an outage of the store is logged elsewhere.
 */
export function identityWatch({ store, logger }: Pick<LogDependencies, 'store' | 'logger'>) {
  let known: string | undefined;
  return async (): Promise<void> => {
    try {
      const now = await store.identity();
      if (known !== undefined && now !== known)
        logger('error', 'The store was emptied or replaced: the tasks it held are gone', {
          before: known,
          now,
        });
      known = now;
    } catch {
      // The store logs its outages itself.
    }
  };
}
