import type { Scope, TaskStore } from '@batonjs/store';
import type { Log } from '../hooks/log-hook.ts';
import type { Clock } from '../timing/clock.ts';
import { commitIdAt } from './commit-id-at.ts';
import { LiveTask } from './live-task.ts';
import { StoreIdentity } from './store-identity.ts';

/** What live tasks share. */
export interface LiveSettings {
  /** Answers within `storeTimeoutMs`. */
  readonly store: TaskStore;
  readonly clock: Clock;
  /** How long one store call may take, in milliseconds. */
  readonly storeTimeoutMs: number;
  /** How long the bell is trusted before looking anyway, in milliseconds. */
  readonly lookEveryMs: number;
  readonly log: Log;
}

/** Emptied when it is removed: see `LinkedList` on what a map that is busy holds on to. */
interface Entry {
  live: LiveTask | undefined;
  users: number;
}

/** The tasks this process is busy with. One that nobody uses is forgotten. */
export class LiveTasks {
  readonly settings: LiveSettings;
  readonly #entries = new Map<string, Entry>();
  readonly #stop = new AbortController();
  readonly #identity: StoreIdentity;

  constructor(settings: LiveSettings) {
    this.settings = settings;
    this.#identity = new StoreIdentity(settings);
    void this.#sweep();
  }

  get size(): number {
    return this.#entries.size;
  }

  /**
   * The task as the store has it now, or undefined; rejects if the store cannot be read. Whoever gets it calls `release`
   * when done.
   */
  async open(scope: Scope, taskId: string): Promise<LiveTask | undefined> {
    for (;;) {
      if (!this.#find(scope, taskId)) {
        const log = await this.settings.store.load(scope, taskId);
        if (!log) return undefined;
        // Facts that are all in the snapshot were not loaded.
        const last =
          log.facts.at(-1)?.commitId ?? (await commitIdAt(this.settings.store, scope, taskId, log.version));
        // Somebody else may have opened it meanwhile, on an older log.
        if (!this.#find(scope, taskId))
          return this.#use(scope, taskId, () => new LiveTask(scope, taskId, this.settings, log, last));
      }
      const live = this.begin(scope, taskId);
      try {
        await live.refresh();
        if (live.known) return live;
        this.release(live);
        return undefined;
      } catch (error) {
        this.release(live);
        // What is known here is of a past that the store lost; what the store has now is the task.
        if (!live.isDiverged) throw error;
      }
    }
  }

  /** A task whose log does not exist yet, as far as this process knows. To be released like an opened one. */
  begin(scope: Scope, taskId: string): LiveTask {
    return this.#use(scope, taskId, () => new LiveTask(scope, taskId, this.settings));
  }

  /** One more user of a task that is in use already. */
  retain(live: LiveTask): LiveTask {
    if (live.isDiverged) return live;
    return this.#use(live.scope, live.taskId, () => live);
  }

  release(live: LiveTask): void {
    const key = keyOf(live.scope, live.taskId);
    const entry = this.#entries.get(key);
    if (entry?.live !== live || --entry.users > 0) return;
    this.#entries.delete(key);
    entry.live = undefined;
    live.unsubscribe().catch((error: unknown) => {
      this.settings.log('error', 'Could not stop watching a task', { taskId: live.taskId, error });
    });
  }

  /** Ends all following. */
  close(): void {
    this.#stop.abort();
    for (const { live } of this.#entries.values()) live?.endFollowing();
  }

  #use(scope: Scope, taskId: string, make: () => LiveTask): LiveTask {
    const entry = this.#find(scope, taskId);
    if (entry?.live) {
      entry.users++;
      return entry.live;
    }
    const live = make();
    this.#entries.set(keyOf(scope, taskId), { live, users: 1 });
    return live;
  }

  /** Those who still use a task that the store lost facts of keep what they have; others are given another one. */
  #find(scope: Scope, taskId: string): Entry | undefined {
    const entry = this.#entries.get(keyOf(scope, taskId));
    return entry?.live?.isDiverged ? undefined : entry;
  }

  /** Finds what the bell missed, and whether the store is still the same. */
  async #sweep(): Promise<void> {
    const { clock, lookEveryMs } = this.settings;
    if (lookEveryMs === Number.POSITIVE_INFINITY) return;
    await this.#identity.check();
    while (!this.#stop.signal.aborted) {
      await clock.sleep(lookEveryMs, this.#stop.signal);
      if (this.#stop.signal.aborted) return;
      const watched = [...this.#entries.values()].filter(({ live }) => live?.watched);
      await Promise.all([this.#identity.check(), ...watched.map(({ live }) => live?.check())]);
    }
  }
}

const keyOf = (scope: Scope, taskId: string): string => `${taskId}\n${scope}`;
