import type { Lease } from '@batonjs/store';
import { detached } from '../../base/hooks/telemetry.ts';
import { LinkedList, type ListNode } from '../../base/linked-list.ts';
import type { LiveTasks } from '../../log/live-tasks.ts';
import type { Held } from '../heartbeat.ts';
import type { Reserved, Runner } from '../runner.ts';
import type { TurnDependencies } from '../turn-dependencies.ts';
import type { UnreadableTasks } from './unreadable-tasks.ts';

/** A turn that a dead process left: claimed here, but not started again yet. */
interface Left extends Held {
  readonly since: number;
  readonly reserved: Reserved;
  readonly kept: ListNode<Held>;
  isLost: boolean;
}

/**
 * Starts the turns that dead processes left one after another: the next one when the one before has written something,
 * has ended, or has run for a tenth of the lease. A turn that crashes its process at once then takes few others with
 * it.
 */
export class Recovery {
  readonly #dependencies: TurnDependencies;
  readonly #tasks: LiveTasks;
  readonly #runner: Runner;
  readonly #unreadable: UnreadableTasks;
  readonly #left = new LinkedList<Left>();
  readonly #stop = new AbortController();
  #over: Promise<void> | undefined;

  constructor(dependencies: TurnDependencies, tasks: LiveTasks, runner: Runner, unreadable: UnreadableTasks) {
    this.#dependencies = dependencies;
    this.#tasks = tasks;
    this.#runner = runner;
    this.#unreadable = unreadable;
  }

  /** Whether turns wait here that another process could take as well. */
  get isBusy(): boolean {
    return this.#over !== undefined;
  }

  add(lease: Lease, since: number): void {
    const { leaseMs } = this.#dependencies.options.timeouts;
    const held: Held & { isLost: boolean } = {
      lease,
      heldUntil: since + leaseMs,
      isLost: false,
      lost() {
        held.isLost = true;
      },
    };
    const kept = this.#runner.heartbeat.add(held);
    this.#left.add(Object.assign(held, { since, kept, reserved: this.#runner.reserve(1) }));
    this.#over ??= detached(this.#dependencies.telemetry, () => this.#run()).finally(() => {
      this.#over = undefined;
    });
  }

  /** Starts no more, and lets other processes have those that wait. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#over;
    const left = [...this.#left];
    for (const { kept, reserved } of left) {
      this.#runner.heartbeat.remove(kept);
      reserved.release();
    }
    if (left.length === 0) return;
    const leases = left.map(({ lease }) => lease);
    // Lets other processes claim them now, instead of when the leases expire.
    await this.#dependencies.store.renew(leases, 1).catch(() => {});
  }

  async #run(): Promise<void> {
    for (let next = this.#left.first; next && !this.#stop.signal.aborted; next = this.#left.first) {
      this.#left.removeFirst();
      try {
        if (!next.isLost) await this.#start(next);
      } catch (error) {
        // Removed first: otherwise, the heartbeat would shorten the lease again.
        this.#runner.heartbeat.remove(next.kept);
        await this.#unreadable.failed(next.lease, error);
      } finally {
        this.#runner.heartbeat.remove(next.kept);
        next.reserved.release();
      }
    }
  }

  async #start({ lease, heldUntil }: Left): Promise<void> {
    const { clock } = this.#dependencies;
    const { leaseMs } = this.#dependencies.options.timeouts;
    const live = await this.#tasks.open(lease.scope, lease.taskId);
    this.#unreadable.opened(lease);
    if (!live) return;
    const running = this.#runner.start(live, lease, { since: heldUntil - leaseMs, isAlone: true });
    const shown = new AbortController();
    const show = () => shown.abort();
    const look = () => {
      const { beganAt } = running.run;
      if (beganAt !== undefined && live.version > beganAt) show();
    };
    live.listeners.add(look);
    this.#stop.signal.addEventListener('abort', show);
    void running.over.then(show);
    await clock.sleep(leaseMs / 10, shown.signal);
    this.#stop.signal.removeEventListener('abort', show);
    live.listeners.delete(look);
  }
}
