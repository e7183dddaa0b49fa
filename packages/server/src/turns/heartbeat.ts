import { type Lease, StoreError } from '@batonjs/store';
import { detached } from '../base/hooks/telemetry.ts';
import { LinkedList, type ListNode } from '../base/linked-list.ts';
import type { LazyAbort } from '../base/timing/deadline-timers.ts';
import type { LiveTask } from '../log/live-task.ts';
import type { TurnDependencies } from './turn-dependencies.ts';

/** A lease that this process keeps alive. */
export interface Held {
  readonly lease: Lease;
  /** Until when the lease surely lives, on the monotonic clock. */
  heldUntil: number;
  /** The store said that the lease is gone. May be called more than once. */
  lost(): void;
}

/**
 * Keeps the leases of this process alive. Time alone loses none: a process that slept, or that cannot reach its store,
 * renews late, and a lease is lost when the store says so.
 */
export function heartbeatOf({ store, clock, report, telemetry, options }: TurnDependencies) {
  const { leaseMs } = options.timeouts;
  const all = new LinkedList<Held>();
  let beating = false;
  /** When the latest call that renewed all leases was sent, on the monotonic clock. */
  let renewedAt = 0;
  let renewing: Promise<boolean> | undefined;

  /** Whether the lease lives for a while yet, judged by the time alone. */
  const isSure = ({ heldUntil }: Held): boolean => clock.monotonic() < heldUntil - leaseMs / 10;

  async function beat(): Promise<void> {
    beating = true;
    renewedAt = clock.monotonic();
    let answered = true;
    while (all.size > 0) {
      await clock.sleep(answered ? leaseMs / 3 : leaseMs / 10, undefined, 'idle');
      if (all.size > 0) answered = await renew();
    }
    beating = false;
  }

  /** Never rejects; one call at a time. */
  function renew(): Promise<boolean> {
    renewing ??= renewAll().finally(() => {
      renewing = undefined;
    });
    return renewing;
  }

  async function renewAll(): Promise<boolean> {
    const nodes = all.nodes();
    const leases = nodes.map(({ item }) => item!.lease);
    const asked = clock.monotonic();
    try {
      // A late answer is not awaited: the next attempt may be faster.
      const kept = await atMost(leaseMs / 3, store.renew(leases, leaseMs));
      const keys = new Set(kept.map(keyOf));
      for (const { item: held } of nodes) {
        if (!held) continue;
        if (keys.has(keyOf(held.lease))) held.heldUntil = Math.max(held.heldUntil, asked + leaseMs);
        else held.lost();
      }
      for (const node of nodes) if (node.item && !keys.has(keyOf(node.item.lease))) all.remove(node);
      renewedAt = asked;
      return true;
    } catch (error) {
      report('Could not renew leases', { leases: leases.length, error });
      return false;
    }
  }

  async function atMost<T>(ms: number, call: Promise<T>): Promise<T> {
    const done = new AbortController();
    const late = clock.sleep(ms, done.signal).then(() => undefined);
    const kept = await Promise.race([call, late]).finally(() => done.abort());
    if (kept === undefined)
      throw new StoreError('UNAVAILABLE', `The store did not renew leases within ${Math.round(ms)} ms`);
    return kept;
  }

  return {
    add(held: Held): ListNode<Held> {
      const node = all.add(held);
      if (!beating) detached(telemetry, () => void beat());
      return node;
    },

    remove: (node: ListNode<Held>): void => all.remove(node),

    /** Whether this process keeps a lease of this holder alive. */
    isKept(holder: string): boolean {
      for (const { lease } of all) if (lease.holder === holder) return true;
      return false;
    },

    isSure,

    /** Renews all leases if that is overdue. Resolves to false if the store did not answer. */
    async catchUp(): Promise<boolean> {
      if (all.size === 0 || clock.monotonic() - renewedAt < leaseMs / 2) return true;
      return renew();
    },

    /**
     * Asks the store whether this lease is still held, and renews it if it may run out soon. Calls the holder's `lost` if it
     * is lost. Rejects with `UNAVAILABLE` if the store does not answer.
     */
    async confirm(held: Held): Promise<void> {
      const { scope, taskId, fence, holder } = held.lease;
      if (store.lease && isSure(held)) {
        const now = await store.lease(scope, taskId);
        if (now?.fence !== fence || now.holder !== holder) held.lost();
        return;
      }
      const asked = clock.monotonic();
      const kept = await store.renew([held.lease], leaseMs);
      if (kept.length === 0) held.lost();
      else held.heldUntil = Math.max(held.heldUntil, asked + leaseMs);
    },
  };
}

export type Heartbeat = ReturnType<typeof heartbeatOf>;

/**
 * Whether a turn may still have an effect. A process that was stopped for longer than its lease, or has not read a cancel
 * yet, does not know that its turn is over. A commit that was acknowledged says that it was not when it was sent.
 */
export class Confirmation {
  readonly #held: Held & { readonly live: LiveTask };
  readonly #heartbeat: Heartbeat;
  readonly #dependencies: TurnDependencies;
  /** When the latest commit that was acknowledged was sent, on the monotonic clock. */
  committedAt: number;
  /** How far the wall clock was ahead of the monotonic one: it jumps when a host wakes whose monotonic clock slept. */
  #wallAheadMs: number;

  /** `since`: the monotonic time before the lease was asked for. */
  constructor(
    held: Held & { readonly live: LiveTask },
    heartbeat: Heartbeat,
    dependencies: TurnDependencies,
    since: number,
  ) {
    this.#held = held;
    this.#heartbeat = heartbeat;
    this.#dependencies = dependencies;
    this.committedAt = since;
    this.#wallAheadMs = dependencies.clock.now() - dependencies.clock.monotonic();
  }

  /** Whether the store need not be asked: under `'rerun'`, for a tenth of `leaseMs` after a commit. */
  isFreshAt(now: number): boolean {
    const { clock, options } = this.#dependencies;
    const passedMs = Math.max(now - this.committedAt, Math.abs(clock.now() - now - this.#wallAheadMs));
    const isRecent = options.restart === 'fail' || passedMs < options.timeouts.leaseMs / 10;
    return isRecent && this.#heartbeat.isSure(this.#held);
  }

  /** Asks until the store answers. Rejects with the reason of `abort` if the turn is over. */
  async ask(abort: Pick<LazyAbort, 'throwIfAborted'>): Promise<void> {
    const { clock } = this.#dependencies;
    for (;;) {
      try {
        const aheadMs = clock.now() - clock.monotonic();
        // The first calls `onLost`, the second the listeners of the log.
        await Promise.all([this.#heartbeat.confirm(this.#held), this.#held.live.refresh()]);
        abort.throwIfAborted();
        this.#wallAheadMs = aheadMs;
        return;
      } catch (error) {
        abort.throwIfAborted();
        if (!isUnavailable(error)) throw error;
        await clock.sleep(20 + clock.random() * 80);
      }
      abort.throwIfAborted();
    }
  }
}

const keyOf = ({ scope, taskId, fence, holder }: Lease): string => `${fence} ${holder} ${taskId} ${scope}`;

/** Whether a retry may help. */
export const isUnavailable = (error: unknown): boolean => StoreError.is(error, 'UNAVAILABLE');

/**
 * Detects while turns run that the event loop was blocked, and logs for how long. Meanwhile the process renews no
 * leases and answers no requests.
 */
export function stallWatch({ clock, logger, telemetry, options }: TurnDependencies) {
  const stallMs = Math.max(200, options.timeouts.leaseMs / 10);
  let turns = 0;
  let watching = false;
  /** When the watch is due to check again, on the monotonic clock. */
  let nextCheck = 0;
  let latest: string | undefined;
  let suspect: string | undefined;

  async function watch(): Promise<void> {
    watching = true;
    while (turns > 0) {
      const before = turns;
      suspect = undefined;
      nextCheck = clock.monotonic() + stallMs / 2;
      await clock.sleep(stallMs / 2, undefined, 'idle');
      const ms = Math.round(clock.monotonic() - nextCheck);
      const details = { ms, latestTaskId: suspect ?? latest, turns: Math.max(before, turns) };
      if (ms >= stallMs) logger('warn', 'The event loop was blocked', details);
    }
    watching = false;
  }

  return {
    turnStarts(): void {
      turns++;
      if (!watching) detached(telemetry, () => void watch());
    },
    turnEnds: (): void => void turns--,
    /** To be called right before code of this task's agent is, with the monotonic time. */
    enter(taskId: string, at: number): void {
      // The first call after the event loop stood still: the one before it is suspected.
      if (at - nextCheck >= stallMs) suspect ??= latest;
      latest = taskId;
    },
  };
}

export type StallWatch = ReturnType<typeof stallWatch>;
