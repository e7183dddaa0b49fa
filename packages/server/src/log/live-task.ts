import { type Fact, type Head, headOf, replay, type Snapshot, type State } from '@batonjs/lifecycle';
import { A2AError } from '@batonjs/protocol/errors';
import {
  type Answer,
  foldLog,
  isPending,
  mustFollow,
  type Scope,
  type StoredFact,
  type StoredLog,
  StoreError,
  type Unsubscribe,
} from '@batonjs/store';
import { newId } from '../base/system/new-id.ts';
import { RecentFacts } from './recent-facts.ts';
import { commitIdAt, isGone, type LogDependencies, reportLostFacts } from './report-lost-facts.ts';
import { type StoredSnapshot, storedSnapshot } from './snapshot-policy.ts';

const batch = 256;

/**
 * The log of a task that is in use in this process, folded and kept up to date. The running turn and all followers share
 * it. This process adds what it commits itself; the store's notifications and the sweep lead to reads of the rest.
 */
export class LiveTask {
  readonly scope: Scope;
  readonly taskId: string;
  readonly dependencies: LogDependencies;
  /** The newest facts. */
  readonly recent = new RecentFacts();
  #state: State | undefined;
  #head: Head | undefined;
  #snapshot: StoredSnapshot = { version: 0, weight: 0, ownWeight: 0 };
  /**
   * Called when facts were added, a read failed or the server closes. A set, not a method that returns a function: every
   * follower would keep that function.
   */
  readonly listeners = new Set<() => void>();
  /** The id of the message that a request of this process is adding. */
  arriving: string | undefined;
  #isSubscribed = false;
  #unsubscribe: Answer<Unsubscribe | undefined>;
  #isReading = false;
  #refreshing: Promise<void> = Promise.resolve();
  #refreshingAgain: Promise<void> | undefined;
  #notifiedVersion = 0;
  #writing = 0;
  #writer: string | undefined;
  #commits = 0;
  #readError: unknown;
  #origin: string | undefined;
  #lastCommitId: string | undefined;
  #isDiverged = false;
  #followers = 0;
  #isServerClosing = false;

  /** `lastCommitId`: of the last fact, for a log whose facts are all in its snapshot. */
  constructor(
    scope: Scope,
    taskId: string,
    dependencies: LogDependencies,
    log?: StoredLog,
    lastCommitId?: string,
  ) {
    this.#lastCommitId = lastCommitId;
    this.scope = scope;
    this.taskId = taskId;
    this.dependencies = dependencies;
    if (!log) return;
    this.#state = foldLog(log);
    this.#head = log.head;
    if (log.snapshot) this.#snapshot = storedSnapshot(log.snapshot);
    for (const stored of log.facts) {
      if (stored.version > log.head.version) this.#head = headOf(this.#head, stored.fact);
      if (stored.version === 1) this.#origin = stored.commitId;
      this.#lastCommitId = stored.commitId;
      // A closed log gets no new facts that followers could wait for.
      if (!this.#state?.closed) this.recent.push(stored);
    }
    // A head that an older release wrote lacks some of them.
    const costs = this.#state?.costs;
    if (costs && this.#head) this.#head = { ...this.#head, costs };
  }

  /** Length of the log as it is known here. */
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
  get snapshot(): StoredSnapshot {
    return this.#snapshot;
  }

  /** Counts one more stream on this task. Throws `RESOURCE_EXHAUSTED` beyond `limit`. */
  enter(limit: number): void {
    if (this.#followers >= limit)
      throw new A2AError('RESOURCE_EXHAUSTED', 'Too many streams are open on this task', { retryAfter: 5 });
    this.#followers++;
  }

  /** Counts one stream less. */
  leave(): void {
    this.#followers--;
  }

  /** The server closes: all cursors end. */
  endFollowing(): void {
    this.#isServerClosing = true;
    this.#callListeners();
  }

  /** Why the store could not be read the last time, if it could not. */
  get readError(): unknown {
    return this.#readError;
  }

  get isServerClosing(): boolean {
    return this.#isServerClosing;
  }

  /** Whether the log was deleted, or lost facts that are known here: see `readError`. Then the task must be opened again. */
  get isDiverged(): boolean {
    return this.#isDiverged;
  }

  /** Whether no more facts will be added: the log is closed or gone, or the server closes. */
  get isOver(): boolean {
    return this.#isServerClosing || this.#isDiverged || this.state.closed;
  }

  /** Whether what other processes write is followed: by notifications and by the sweep. */
  get isSubscribed(): boolean {
    return this.#isSubscribed;
  }

  /** Follows what other processes write. Never rejects: if the store cannot subscribe, the sweep tries again. */
  subscribe(): Answer<unknown> {
    if (this.#isDiverged) return undefined;
    this.#isSubscribed = true;
    if (this.#unsubscribe) return this.#unsubscribe;
    this.#unsubscribe = this.#subscribeToStore();
    // The store does not notify of earlier commits.
    if (!this.#state) return this.#unsubscribe;
    return isPending(this.#unsubscribe) ? this.#unsubscribe.then(() => this.tryRefresh()) : this.tryRefresh();
  }

  unsubscribe(): Answer<void> {
    const unsubscribe = this.#unsubscribe;
    this.#isSubscribed = false;
    this.#unsubscribe = undefined;
    return isPending(unsubscribe) ? unsubscribe.then((end) => end?.()) : unsubscribe?.();
  }

  /** Reads facts whose notification was lost; subscribes again if that failed before. Never rejects. */
  sweep(): Answer<unknown> {
    return this.#unsubscribe ? this.tryRefresh() : this.subscribe();
  }

  /** Reads new facts from the store. Rejects if the store cannot be read. */
  async refresh(): Promise<void> {
    await this.tryRefresh();
    if (this.#readError) throw this.#readError;
  }

  /** Reads new facts from the store. Never rejects: `readError` says why the store could not be read. */
  tryRefresh(): Promise<void> {
    if (!this.#isReading) {
      this.#refreshing = this.#read();
      return this.#refreshing;
    }
    // The read under way may have begun too early. One more serves all callers that come meanwhile.
    this.#refreshingAgain ??= this.#refreshing.then(() => {
      this.#refreshingAgain = undefined;
      return this.tryRefresh();
    });
    return this.#refreshingAgain;
  }

  /** A write of this process starts: until it ends, a notification leads to no read, as it may be of that write. */
  writeStarts(): void {
    this.#writing++;
  }

  writeEnds(): void {
    this.#writing--;
    this.#readWhatWasNotified();
  }

  /**
   * Adds facts that the store holds. Known ones and those after a gap are ignored: a later refresh reads the latter.
   * `state` and `head` are those after these facts, if they were folded already; `snapshot` was stored with them.
   */
  add(facts: readonly StoredFact[], state?: State, snapshot?: Snapshot, head?: Head): void {
    const { version } = this;
    const first = facts[0]?.version ?? 0;
    const adopt = state !== undefined && first === version + 1;
    // The state tells what one fact weighs. Several are weighed one by one.
    const weight = adopt && facts.length === 1 ? state.weight - (this.#state?.weight ?? 0) : undefined;
    const added = adopt ? facts : facts.filter((one) => one.version > version && first <= version + 1);
    const unfolded = adopt ? undefined : added.map(({ fact }) => fact);
    for (const stored of added) {
      if (stored.version === 1) this.#origin = stored.commitId;
      this.#lastCommitId = stored.commitId;
      if (!adopt || !head) this.#head = headOf(this.#head, stored.fact);
      this.recent.push(stored, weight);
    }
    this.#state = unfolded ? replay(unfolded, this.#state) : state;
    if (adopt && head) this.#head = head;
    if (snapshot) this.#snapshot = storedSnapshot(snapshot);
    if (this.version > version) this.#callListeners();
  }

  /** A new id. All ids of one task begin with the same unguessable part: its count tells nothing of other tasks. */
  nextCommitId(): string {
    this.#writer ??= `${newId(this.dependencies.clock)}-`;
    return this.#writer + ++this.#commits;
  }

  /** The head after more facts. */
  headAfter(facts: readonly Fact[]): Head | undefined {
    return facts.reduce<Head | undefined>(headOf, this.#head);
  }

  /** The `commitId` of the first fact: tells this log from another that had the same task id before. */
  async origin(): Promise<string> {
    this.#origin ??= (await commitIdAt(this.dependencies.store, this.scope, this.taskId, 1)) ?? '';
    return this.#origin;
  }

  /** The `commitId` of the fact at a position, if it is known without a read. */
  commitIdAt(version: number): string | undefined {
    if (version === this.version) return this.#lastCommitId;
    return this.recent.after(version - 1)?.[0]?.commitId;
  }

  #subscribeToStore(): Answer<Unsubscribe | undefined> {
    const { scope, taskId, dependencies } = this;
    const failed = (error: unknown): undefined => {
      this.#unsubscribe = undefined;
      dependencies.report('Could not subscribe to a task', { taskId, error });
    };
    const subscribed = dependencies.store.subscribe({ scope, taskId }, (version) => this.#notified(version));
    return isPending(subscribed) ? subscribed.catch(failed) : subscribed;
  }

  #notified(version = Number.POSITIVE_INFINITY): void {
    this.#notifiedVersion = Math.max(this.#notifiedVersion, version);
    // A read under way may find these facts, and looks when it is over.
    if (!this.#isReading) this.#readWhatWasNotified();
  }

  #readWhatWasNotified(): void {
    if (this.#writing === 0 && this.#notifiedVersion > this.version) void this.tryRefresh();
  }

  async #read(): Promise<void> {
    const { store, report } = this.dependencies;
    this.#isReading = true;
    try {
      this.#notifiedVersion = 0;
      while (!this.#isDiverged) {
        const { scope, taskId, version } = this;
        const facts = await store.readFacts(scope, taskId, version, batch, this.#lastCommitId);
        mustFollow(facts, version);
        this.#readError = undefined;
        this.add(facts);
        if (facts.length < batch) break;
      }
    } catch (error) {
      this.#readError = error;
      if (isGone(error)) {
        this.#isDiverged = true;
        void reportLostFacts(this);
      } else if (!StoreError.is(error, 'LOG_GAP'))
        report('Could not read a task', { taskId: this.taskId, error });
      this.#callListeners();
    } finally {
      // Not in a later callback, or a caller in between would get a read that is over. Perhaps before `#read` returns.
      this.#isReading = false;
      if (!this.#refreshingAgain) this.#readWhatWasNotified();
    }
  }

  #callListeners(): void {
    for (const listener of this.listeners) listener();
  }
}
