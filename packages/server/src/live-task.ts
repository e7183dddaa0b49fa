import { evolve, type Fact, type Head, headOf, type State } from '@batonjs/lifecycle';
import { A2AError } from '@batonjs/protocol/errors';
import {
  foldLog,
  isStoreError,
  type Scope,
  type StoredFact,
  type StoredLog,
  type Unwatch,
} from '@batonjs/store';
import { bounded } from './bounded.ts';
import type { LiveSettings } from './live-tasks.ts';
import { RecentFacts } from './recent-facts.ts';

const batch = 256;

/**
 * A task that something in this process is busy with: its folded log, kept up to date with one tail that the running
 * turn and all followers share. Facts reach it from this process' own commits, or are read when the bell rings.
 */
export class LiveTask {
  readonly scope: Scope;
  readonly taskId: string;
  readonly settings: LiveSettings;
  #state: State | undefined;
  #head: Head | undefined;
  #snapshot = { version: 0, weight: 0 };
  readonly #recent = new RecentFacts();
  readonly #waiters = new Set<() => void>();
  readonly #listeners = new Set<() => void>();
  #unwatch: Promise<Unwatch> | undefined;
  #looking: Promise<void> | undefined;
  #lookingAgain: Promise<void> | undefined;
  #rungAt = 0;
  #writing = 0;
  #trouble: unknown;
  #origin: string | undefined;
  #followers = 0;
  #ended = false;

  constructor(scope: Scope, taskId: string, settings: LiveSettings, log?: StoredLog) {
    this.scope = scope;
    this.taskId = taskId;
    this.settings = settings;
    if (!log) return;
    this.#state = foldLog(log);
    this.#head = log.head;
    if (log.snapshot) this.#snapshot = { version: log.snapshot.version, weight: log.snapshot.state.weight };
    for (const stored of log.facts) {
      if (stored.version > log.head.version) this.#head = headOf(this.#head, stored.fact);
      if (stored.version === 1) this.#origin = stored.commitId;
      this.#recent.push(stored);
    }
  }

  /** Length of the known log. */
  get version(): number {
    return this.#state?.version ?? 0;
  }

  /** The folded log, or undefined before the first commit. */
  get known(): State | undefined {
    return this.#state;
  }

  /** The folded log. Throws `TypeError` before the first commit. */
  get state(): State {
    if (!this.#state) throw new TypeError('The log is empty');
    return this.#state;
  }

  get head(): Head | undefined {
    return this.#head;
  }

  /** Where the latest snapshot this process knows of was taken. */
  get snapshot(): { readonly version: number; readonly weight: number } {
    return this.#snapshot;
  }

  /** One more stream on this task. Throws `RESOURCE_EXHAUSTED` beyond `limit`. */
  enter(limit: number): void {
    if (this.#followers >= limit) {
      throw new A2AError('RESOURCE_EXHAUSTED', 'Too many streams are open on this task', { retryAfter: 5 });
    }
    this.#followers++;
  }

  leave(): void {
    this.#followers--;
  }

  /** Whoever follows is let go: the server closes. */
  endFollowing(): void {
    this.#ended = true;
    this.#wake();
  }

  /** Calls `listener` whenever facts were added, until the returned function is called. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Whether something waits for what other processes write. */
  get watched(): boolean {
    return this.#unwatch !== undefined;
  }

  /** Starts to notice what other processes write. */
  async watch(): Promise<void> {
    if (this.#unwatch) return void (await this.#unwatch);
    const topic = { scope: this.scope, taskId: this.taskId };
    this.#unwatch = this.settings.store.watch(topic, (version) => this.#ring(version));
    // Without a bell, the regular looks still find what is new.
    this.#unwatch.catch((error: unknown) => {
      this.#unwatch = undefined;
      this.settings.log('error', 'Could not watch a task', { taskId: this.taskId, error });
    });
    await this.#unwatch.catch(() => {});
    // What was committed before the bell was hung is not announced any more.
    if (this.#state) await this.look();
  }

  async unwatch(): Promise<void> {
    const unwatch = this.#unwatch;
    this.#unwatch = undefined;
    await (await unwatch)?.();
  }

  /** Reads what is new, if anything. Never rejects; followers that want to know learn of trouble. */
  look(): Promise<void> {
    if (!this.#looking) {
      this.#looking = this.#read();
      return this.#looking;
    }
    // The one under way may have read too early. One more serves all who ask meanwhile.
    this.#lookingAgain ??= this.#looking.then(() => {
      this.#lookingAgain = undefined;
      return this.look();
    });
    return this.#lookingAgain;
  }

  /** A write of this process starts: its own bell need not be answered by reading. */
  writeStarts(): void {
    this.#writing++;
  }

  writeEnds(): void {
    this.#writing--;
    if (this.#writing === 0 && this.#rungAt > this.version) void this.look();
  }

  /**
   * Takes in facts that are in the store now. Those known already are skipped; those after a gap are left to be read.
   * `state` is the state after them, if it was folded already; `snapshot`, whether it was stored with them.
   */
  add(facts: readonly StoredFact[], state?: State, snapshot = false): void {
    let added = false;
    const adopt = state !== undefined && facts[0]?.version === this.version + 1;
    for (const stored of facts) {
      if (adopt ? false : stored.version !== this.version + 1) continue;
      if (stored.version === 1) this.#origin = stored.commitId;
      if (!adopt) this.#state = evolve(this.#state, stored.fact);
      this.#head = headOf(this.#head, stored.fact);
      this.#recent.push(stored);
      added = true;
    }
    if (adopt) this.#state = state;
    if (state && snapshot) this.#snapshot = { version: state.version, weight: state.weight };
    if (added) this.#wake();
  }

  /** The head after more facts. */
  headAfter(facts: readonly Fact[]): Head | undefined {
    return facts.reduce<Head | undefined>(headOf, this.#head);
  }

  /** The `commitId` of the first fact: tells this log from another one that once had the same task id. */
  async origin(): Promise<string> {
    if (this.#origin === undefined) {
      const [first] = await this.settings.store.readFacts(this.scope, this.taskId, 0, 1);
      this.#origin = first?.commitId ?? '';
    }
    return this.#origin;
  }

  /**
   * The facts after a position, then every new one: in order, once each, until aborted. A reader that lags reads the
   * store again. With `strict`, rejects when the store cannot be read; otherwise waits until it can.
   */
  async *follow(after: number, signal: AbortSignal, { strict = false } = {}): AsyncGenerator<StoredFact> {
    while (!signal.aborted) {
      const facts =
        after >= this.version ? [] : (this.#recent.after(after) ?? (await this.#readAfter(after)));
      for (const stored of facts) {
        if (signal.aborted || this.#ended) return;
        after = stored.version;
        yield stored;
      }
      if (facts.length > 0) continue;
      if (strict && this.#trouble) throw this.#trouble;
      await this.change(signal);
    }
  }

  /** Resolves at the next change or when aborted, and leaves nothing behind on either. */
  change(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        this.#waiters.delete(done);
        signal.removeEventListener('abort', done);
        resolve();
      };
      this.#waiters.add(done);
      signal.addEventListener('abort', done);
      if (signal.aborted) done();
    });
  }

  #readAfter(after: number): Promise<readonly StoredFact[]> {
    return this.settings.store.readFacts(this.scope, this.taskId, after, batch);
  }

  #ring(version = Number.POSITIVE_INFINITY): void {
    if (version <= this.version) return;
    this.#rungAt = Math.max(this.#rungAt, version);
    if (this.#writing === 0) void this.look();
  }

  async #read(): Promise<void> {
    const { store, clock, storeTimeoutMs, log } = this.settings;
    try {
      this.#rungAt = 0;
      for (;;) {
        const read = store.readFacts(this.scope, this.taskId, this.version, batch);
        const facts = await bounded(read, storeTimeoutMs, clock);
        this.#trouble = undefined;
        this.add(facts);
        if (facts.length < batch) break;
      }
    } catch (error) {
      this.#trouble = error;
      if (!isStoreError(error, 'LOG_GAP'))
        log('error', 'Could not read a task', { taskId: this.taskId, error });
      this.#wake();
    } finally {
      // Here and not in a later callback, or whoever asks in between would be given a look that is already over.
      this.#looking = undefined;
    }
  }

  #wake(): void {
    for (const waiter of [...this.#waiters]) waiter();
    for (const listener of this.#listeners) listener();
  }
}
