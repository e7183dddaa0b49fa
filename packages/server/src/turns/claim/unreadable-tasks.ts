import { remember } from '@batonjs/protocol/bounded-map';
import { backoffMs } from '@batonjs/protocol/timing';
import type { Lease } from '@batonjs/store';
import type { TurnDependencies } from '../turn-dependencies.ts';

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
