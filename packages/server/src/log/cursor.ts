import type { Fact } from '@batonjs/lifecycle';
import { type StoredFact, StoreError } from '@batonjs/store';
import { deadlinesOf } from '../base/timing/deadline-timers.ts';
import { work } from '../base/timing/hold-process.ts';
import type { LiveTask } from './live-task.ts';
import { isGone } from './report-lost-facts.ts';

const batch = 256;
/** About how many bytes of facts one read from the store returns. */
const batchWeight = 250_000;
/** How long a follower that outlasts outages waits before the store is asked again, in milliseconds. */
const retryMs = 100;

export interface LogPosition {
  /** The facts after this one follow. */
  readonly version: number;
  /** The `commitId` of the fact at that version, if it is known: the store checks that it still holds that fact. */
  readonly commitId?: string | undefined;
}

/** A stream or a wait: it reads the log of a task with a cursor. */
export interface Follower {
  /** Whether the cursor tries again while the store cannot be read. Otherwise the failure ends it. */
  readonly outlastsOutages: boolean;
  /** The next facts: at least one, in order. Called once for each `read()`. What it throws ends the cursor. */
  take(facts: readonly StoredFact[]): void;
  /** Called when the cursor ended by itself, once: after that, `take` is not called any more. */
  end(error?: unknown): void;
}

/**
 * Reads the log of a live task for one follower. All followers share these rules:
 *
 * - Order: the follower gets every fact after the position, in order, without gaps or duplicates.
 * - Demand: each `read()` leads to one `take`, at once or when a fact is added. Between reads, the cursor holds no
 *   facts.
 * - Lag: facts come from the live task while it keeps them. Older ones are read from the store, a batch at a time.
 * - Abort: the cursor ends at once, without an error.
 * - Server closing: the cursor ends at the next read, or at the one that is pending, without an error.
 * - Gone: the cursor ends with `LOG_DELETED` if the task was deleted, with `LOG_DIVERGED` if the store lost what was read,
 *   and with `LOG_GAP` if it does not keep the next facts.
 * - Outage: the cursor ends with the error of the store, or tries again (`outlastsOutages`).
 *
 * Not a generator: thousands may follow one task, and each is called for every fact. A cursor listens once and makes no
 * promises.
 */
export class Cursor {
  readonly #live: LiveTask;
  readonly #signal: AbortSignal;
  readonly #follower: Follower;
  #version: number;
  #commitId: string | undefined;
  #isWanted = false;
  #isReadingStore = false;
  #isClosed = false;
  readonly #advance = () => this.#next();

  constructor(live: LiveTask, { version, commitId }: LogPosition, signal: AbortSignal, follower: Follower) {
    this.#live = live;
    this.#signal = signal;
    this.#follower = follower;
    this.#version = version;
    this.#commitId = commitId;
    live.listeners.add(this.#advance);
    signal.addEventListener('abort', this.#advance);
  }

  /** Whether a `read()` would wait for a fact that is not there yet. */
  get wouldWait(): boolean {
    const { isServerClosing, isDiverged, readError, version } = this.#live;
    const isAtEnd = this.#version >= version && !readError;
    return isAtEnd && !isServerClosing && !isDiverged && !this.#signal.aborted;
  }

  /** Asks for the next facts. */
  read(): void {
    if (!this.#isWanted && !this.#isClosed) {
      this.#isWanted = true;
      if (work.count++ === 0) work.hold();
    }
    this.#next();
  }

  /** Ends the cursor without a call of `end`. May be called again. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (this.#isWanted && --work.count === 0) work.letGo();
    this.#isWanted = false;
    this.#live.listeners.delete(this.#advance);
    this.#signal.removeEventListener('abort', this.#advance);
  }

  #next(): void {
    const live = this.#live;
    if (this.#signal.aborted) this.#end();
    if (this.#isClosed || !this.#isWanted || this.#isReadingStore) return;
    if (live.isServerClosing) this.#end();
    else if (live.isDiverged) this.#end(live.readError);
    else if (this.#version < live.version) {
      const facts = live.recent.after(this.#version);
      if (facts) this.#give(facts);
      else void this.#readStore();
    } else if (live.readError && !this.#follower.outlastsOutages) this.#end(live.readError);
  }

  #give(facts: readonly StoredFact[]): void {
    const last = facts.at(-1);
    try {
      if (last) {
        this.#version = last.version;
        this.#commitId = last.commitId;
        this.#isWanted = false;
        if (--work.count === 0) work.letGo();
        this.#follower.take(facts);
      } else this.#next();
    } catch (error) {
      this.#end(error);
    }
  }

  async #readStore(): Promise<void> {
    this.#isReadingStore = true;
    try {
      const facts = await this.#readBatch();
      this.#isReadingStore = false;
      if (!this.#isClosed) this.#give(facts);
    } catch (error) {
      this.#end(error);
    }
  }

  /** The next facts that the store holds; none if it is to be asked again. */
  async #readBatch(): Promise<readonly StoredFact[]> {
    const { scope, taskId, dependencies, state, version } = this.#live;
    try {
      // Few at a time if the facts are large: a follower that stops reading keeps the facts it was given.
      const limit = Math.max(1, Math.min(batch, Math.floor((batchWeight * version) / state.weight)));
      const facts = await dependencies.store.readFacts(scope, taskId, this.#version, limit, this.#commitId);
      // The store may be ahead of the live task, which must not be behind what its follower was given.
      this.#live.add(facts);
      if (facts.length > 0) return facts;
    } catch (error) {
      if (isGone(error)) await this.#live.tryRefresh();
      if (!this.#follower.outlastsOutages || isLost(error)) throw error;
    }
    await dependencies.clock.sleep(retryMs, this.#signal);
    return [];
  }

  #end(error?: unknown): void {
    if (this.#isClosed) return;
    this.close();
    this.#follower.end(error);
  }
}

const isLost = (error: unknown): boolean => StoreError.is(error, 'LOG_GAP') || isGone(error);

export interface WaitOptions {
  /** Only facts after this version count. */
  readonly after: number;
  /** The longest wait in milliseconds: one of few values. Default: no limit. */
  readonly ms?: number;
  /** Ends the wait. */
  readonly signal: AbortSignal;
}

/**
 * Resolves when `matches` is true of a fact, when the time is over, when aborted, or when the server closes. An outage
 * of the store does not end the wait. Rejects with `LOG_DELETED` if the task was deleted, with `LOG_DIVERGED` if the store
 * lost facts of it, and with `LOG_GAP` if it does not keep those that follow.
 */
export const waitForFact = (
  live: LiveTask,
  matches: (fact: Fact) => unknown,
  { after, ms, signal }: WaitOptions,
): Promise<void> =>
  new Promise((resolve, reject) => {
    const end = (error?: unknown) => {
      cursor.close();
      if (deadline) deadlines?.remove(deadline);
      if (error === undefined) resolve();
      else reject(error);
    };
    const cursor = new Cursor(live, { version: after }, signal, {
      outlastsOutages: true,
      take(facts) {
        for (const { fact } of facts) if (matches(fact)) return end();
        cursor.read();
      },
      end,
    });
    const deadlines = ms === undefined ? undefined : deadlinesOf(ms, live.dependencies.clock);
    const deadline = deadlines?.add({ expire: end });
    cursor.read();
  });

/** Resolves at the next fact, when aborted, or when the server closes. Rejects like `waitForFact`. */
export const nextFact = (live: LiveTask, signal: AbortSignal): Promise<void> =>
  waitForFact(live, () => true, { after: live.version, signal });
