import { evolve, type Fact, type Head, headOf, type Snapshot, type State } from '@batonjs/lifecycle';
import { A2AError } from '@batonjs/protocol/errors';
import {
  foldLog,
  type Scope,
  type StoredFact,
  type StoredLog,
  StoreError,
  type Unsubscribe,
} from '@batonjs/store';
import { newId } from '../timing/new-id.ts';
import { commitIdAt } from './commit-id-at.ts';
import type { LiveSettings } from './live-tasks.ts';
import { RecentFacts } from './recent-facts.ts';
import { reportLostFacts } from './report-lost-facts.ts';
import { type TakenSnapshot, taken } from './snapshot-policy.ts';
import type { StreamEvent } from './stream-event.ts';

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
  #snapshot: TakenSnapshot = { version: 0, weight: 0, ownWeight: 0 };
  readonly #recent = new RecentFacts();
  readonly #listeners = new Set<() => void>();
  #watched = false;
  #unsubscribe: Promise<Unsubscribe | undefined> | undefined;
  #looking: Promise<void> | undefined;
  #lookingAgain: Promise<void> | undefined;
  #rungAt = 0;
  #writing = 0;
  #writer: string | undefined;
  #commits = 0;
  #trouble: unknown;
  #origin: string | undefined;
  #lastCommitId: string | undefined;
  #isDiverged = false;
  #followers = 0;
  #ended = false;

  /** `lastCommitId`: of a log whose facts are all in its snapshot. */
  constructor(scope: Scope, taskId: string, settings: LiveSettings, log?: StoredLog, lastCommitId?: string) {
    this.#lastCommitId = lastCommitId;
    this.scope = scope;
    this.taskId = taskId;
    this.settings = settings;
    if (!log) return;
    this.#state = foldLog(log);
    this.#head = log.head;
    if (log.snapshot) this.#snapshot = taken(log.snapshot);
    for (const stored of log.facts) {
      if (stored.version > log.head.version) this.#head = headOf(this.#head, stored.fact);
      if (stored.version === 1) this.#origin = stored.commitId;
      this.#lastCommitId = stored.commitId;
      // Nothing will happen to a closed task: there is nobody who follows it closely.
      if (!this.#state?.closed) this.#recent.push(stored);
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

  /** The latest snapshot this process knows of. */
  get snapshot(): TakenSnapshot {
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

  /** Why the store could not be read the last time, if it could not. */
  get trouble(): unknown {
    return this.#trouble;
  }

  /** Whether the server closes. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Whether the store lost facts that are known here. Then `trouble` says so, and the task must be opened anew. */
  get isDiverged(): boolean {
    return this.#isDiverged;
  }

  /** Whether nothing more will be noticed here: the log is closed, or not the stored one, or the server closes. */
  get isOver(): boolean {
    return this.#ended || this.#isDiverged || this.state.closed;
  }

  /** Calls `listener` whenever facts were added, until the returned function is called. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Whether something waits for what other processes write. */
  get watched(): boolean {
    return this.#watched;
  }

  /** Starts to notice what other processes write. Never rejects: without a bell, the regular looks find what is new. */
  subscribe(): Promise<unknown> {
    if (this.#isDiverged) return Promise.resolve();
    this.#watched = true;
    if (this.#unsubscribe) return this.#unsubscribe;
    this.#unsubscribe = this.#hang();
    // What was committed before the bell was hung is not announced any more.
    return this.#state ? this.#unsubscribe.then(() => this.look()) : this.#unsubscribe;
  }

  async unsubscribe(): Promise<void> {
    const unsubscribe = this.#unsubscribe;
    this.#watched = false;
    this.#unsubscribe = undefined;
    await (await unsubscribe)?.();
  }

  /** Finds what the bell missed; hangs it again if that failed. Never rejects. */
  check(): Promise<unknown> {
    return this.#unsubscribe ? this.look() : this.subscribe();
  }

  /** Reads what is new, if anything. Rejects if the store cannot be read. */
  async refresh(): Promise<void> {
    await this.look();
    if (this.#trouble) throw this.#trouble;
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
   * `state` and `head` are those after them, if they were folded already; `snapshot` was stored with them.
   */
  add(facts: readonly StoredFact[], state?: State, snapshot?: Snapshot, head?: Head): void {
    let added = false;
    const adopt = state !== undefined && facts[0]?.version === this.version + 1;
    for (const stored of facts) {
      if (adopt ? false : stored.version !== this.version + 1) continue;
      if (stored.version === 1) this.#origin = stored.commitId;
      this.#lastCommitId = stored.commitId;
      if (!adopt) this.#state = evolve(this.#state, stored.fact);
      if (!adopt || !head) this.#head = headOf(this.#head, stored.fact);
      this.#recent.push(stored);
      added = true;
    }
    if (adopt) {
      this.#state = state;
      if (head) this.#head = head;
    }
    if (snapshot) this.#snapshot = taken(snapshot);
    if (added) this.#wake();
  }

  /** Fresh; those of one task begin with the same unguessable id, so that numbers tell nothing about others. */
  nextCommitId(): string {
    this.#writer ??= `${newId(this.settings.clock)}-`;
    return this.#writer + ++this.#commits;
  }

  /** The head after more facts. */
  headAfter(facts: readonly Fact[]): Head | undefined {
    return facts.reduce<Head | undefined>(headOf, this.#head);
  }

  /** The `commitId` of the first fact: tells this log from another one that once had the same task id. */
  async origin(): Promise<string> {
    this.#origin ??= (await commitIdAt(this.settings.store, this.scope, this.taskId, 1)) ?? '';
    return this.#origin;
  }

  /** The `commitId` of the fact at a position, if it is at hand. */
  commitIdAt(version: number): string | undefined {
    if (version === this.version) return this.#lastCommitId;
    return this.#recent.after(version - 1)?.[0]?.commitId;
  }

  /** The facts after a position, if all of them are at hand. */
  recentAfter(after: number): readonly StoredFact[] | undefined {
    return this.#recent.after(after);
  }

  /** What `make` makes of a fact: of a recent one, once for all who follow. */
  eventOf(
    stored: StoredFact,
    make: (stored: StoredFact) => StreamEvent | undefined,
  ): StreamEvent | undefined {
    return this.#recent.eventOf(stored, make);
  }

  async #hang(): Promise<Unsubscribe | undefined> {
    const { store, log } = this.settings;
    const topic = { scope: this.scope, taskId: this.taskId };
    try {
      return await store.subscribe(topic, (version) => this.#ring(version));
    } catch (error) {
      this.#unsubscribe = undefined;
      log('error', 'Could not subscribe to a task', { taskId: this.taskId, error });
      return undefined;
    }
  }

  #ring(version = Number.POSITIVE_INFINITY): void {
    if (version <= this.version) return;
    this.#rungAt = Math.max(this.#rungAt, version);
    if (this.#writing === 0) void this.look();
  }

  async #read(): Promise<void> {
    const { store, log } = this.settings;
    try {
      this.#rungAt = 0;
      while (!this.#isDiverged) {
        const { scope, taskId, version } = this;
        const facts = await store.readFacts(scope, taskId, version, batch, this.#lastCommitId);
        this.#trouble = undefined;
        this.add(facts);
        if (facts.length < batch) break;
      }
    } catch (error) {
      this.#trouble = error;
      if (StoreError.is(error, 'LOG_DIVERGED')) {
        this.#isDiverged = true;
        void reportLostFacts(this);
      } else if (!StoreError.is(error, 'LOG_GAP'))
        log('error', 'Could not read a task', { taskId: this.taskId, error });
      this.#wake();
    } finally {
      // Here and not in a later callback, or whoever asks in between would be given a look that is already over.
      this.#looking = undefined;
    }
  }

  #wake(): void {
    for (const listener of this.#listeners) listener();
  }
}
