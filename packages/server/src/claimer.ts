import type { Lease, Scope, Unsubscribe } from '@batonjs/store';
import type { LiveTasks } from './live-tasks.ts';
import { newId } from './new-id.ts';
import { ParkedTasks } from './parked-tasks.ts';
import type { Runner } from './runner.ts';
import type { RunSettings } from './settings.ts';

const batch = 32;

/** Takes tasks that nobody works on: wanted ones, those of dead processes, and those whose clock ran out. */
export class Claimer {
  readonly #settings: RunSettings;
  readonly #tasks: LiveTasks;
  readonly #runner: Runner;
  readonly #parked: ParkedTasks;
  readonly #stop = new AbortController();
  #unsubscribe: Promise<Unsubscribe> | undefined;
  #rung = new AbortController();
  #over: Promise<void> | undefined;

  constructor(settings: RunSettings, tasks: LiveTasks, runner: Runner) {
    this.#settings = settings;
    this.#tasks = tasks;
    this.#runner = runner;
    this.#parked = new ParkedTasks(settings);
  }

  start(): void {
    const { store, queue, log } = this.#settings;
    this.#unsubscribe = store.subscribe({ queue }, () => this.#rung.abort());
    this.#unsubscribe.catch((error: unknown) =>
      log('error', 'Could not subscribe to the queue', { queue, error }),
    );
    this.#runner.onFree(() => this.#rung.abort());
    this.#over = this.#loop();
  }

  /** Takes this one task at once, if it may be taken; otherwise the loop of some process will. */
  async claimNow(scope: Scope, taskId: string): Promise<void> {
    if (this.#stop.signal.aborted) return;
    await this.#claim(1, taskId).catch((error: unknown) => {
      this.#settings.log('error', 'Could not claim a task', { scope, taskId, error });
    });
  }

  async close(): Promise<void> {
    this.#stop.abort();
    this.#rung.abort();
    await this.#over;
    await this.#parked.close();
    await (await this.#unsubscribe?.catch(() => undefined))?.();
  }

  async #loop(): Promise<void> {
    const { clock, pollMs, log } = this.#settings;
    while (!this.#stop.signal.aborted) {
      this.#rung = new AbortController();
      let more = false;
      try {
        more = await this.#claim(batch);
      } catch (error) {
        log('error', 'Could not claim tasks', { error });
      }
      if (more || this.#stop.signal.aborted) continue;
      // Apart from each other, so that many processes do not all look at the same moment.
      await clock.sleep(pollMs * (0.75 + clock.random() / 2), this.#rung.signal);
    }
  }

  /** Resolves whether it got as many as it asked for, so that there may be more. */
  async #claim(most: number, taskId?: string): Promise<boolean> {
    const { store, clock, queue, leaseMs } = this.#settings;
    const { turns: limit, release } = this.#runner.reserve(most);
    try {
      if (limit === 0) return false;
      const since = clock.monotonic();
      const about = { queue, holder: newId(clock), ttlMs: leaseMs, limit };
      const leases = await store.claim(taskId === undefined ? about : { ...about, taskId });
      await Promise.all(leases.map((lease) => this.#take(lease, since)));
      return leases.length === limit;
    } finally {
      release();
    }
  }

  async #take(lease: Lease, since: number): Promise<void> {
    try {
      const live = await this.#tasks.open(lease.scope, lease.taskId);
      this.#parked.opened(lease);
      if (live) this.#runner.start(live, lease, { since });
    } catch (error) {
      await this.#parked.park(lease, error);
    }
  }
}
