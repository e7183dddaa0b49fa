import { remember } from '@batonjs/protocol/bounded-map';
import { backoffMs } from '@batonjs/protocol/timing';
import type { Lease } from '@batonjs/store';
import { detached } from '../../base/hooks/telemetry.ts';
import { LinkedList, type ListNode } from '../../base/linked-list.ts';
import type { LiveTasks } from '../../log/live-tasks.ts';
import type { Held } from '../heartbeat.ts';
import type { Reserved, Runner } from '../runner.ts';
import type { TurnDependencies } from '../turn-dependencies.ts';

/** A turn that a dead process left: claimed here, but not started again yet. */
interface Left extends Held {
  readonly since: number;
  readonly reserved: Reserved;
  readonly kept: ListNode<Held>;
  isLost: boolean;
}

/**
 * Starts the turns that dead processes left one after another: the next one when the one before has written something, has
 * ended, or has run for a tenth of the lease. A turn that crashes its process at once then takes few others with it.
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

/** The longest pause before a task is tried again, in milliseconds. */
const longest = 600_000;
/** How many tasks are remembered. */
const most = 10_000;

interface Unreadable {
  readonly lease: Lease;
  readonly failures: number;
}

/**
 * Tasks that this process claimed and could not open. Each is retried after the time of a lease, then after twice as
 * long each time, up to 10 minutes: an unreadable task may cost seconds of reading. The lease is kept meanwhile, so
 * that other processes do not claim it either.
 */
export class UnreadableTasks {
  readonly #dependencies: TurnDependencies;
  readonly #unreadable = new Map<string, Unreadable>();

  constructor(dependencies: TurnDependencies) {
    this.#dependencies = dependencies;
  }

  /** The lease of a task that could not be opened is kept for longer. Never rejects. */
  async failed(lease: Lease, error: unknown): Promise<void> {
    const { store, report } = this.#dependencies;
    const { leaseMs } = this.#dependencies.options.timeouts;
    const key = keyOf(lease);
    const failures = (this.#unreadable.get(key)?.failures ?? 0) + 1;
    const retryMs = backoffMs(failures, { initialMs: leaseMs, maxMs: Math.max(leaseMs, longest), jitter: 0 });
    remember(this.#unreadable, key, { lease, failures }, most);
    const { taskId } = lease;
    report('A claimed task cannot be opened', { taskId, failures, retryMs, error });
    if (retryMs === leaseMs) return;
    await store.renew([lease], retryMs).catch((error: unknown) => {
      report('Could not keep the lease of a task that cannot be opened', { taskId, error });
    });
  }

  /** Forgets that a task could not be opened. */
  opened(lease: Lease): void {
    if (this.#unreadable.size > 0) this.#unreadable.delete(keyOf(lease));
  }

  /** Lets other processes try at once. Never rejects. */
  async close(): Promise<void> {
    const leases = [...this.#unreadable.values()].map(({ lease }) => lease);
    this.#unreadable.clear();
    // Leases that ran out are not held any more, which changes nothing.
    if (leases.length > 0) await this.#dependencies.store.renew(leases, 1).catch(() => {});
  }
}

const keyOf = ({ scope, taskId }: Lease): string => `${taskId}\n${scope}`;
