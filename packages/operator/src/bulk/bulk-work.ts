import { labelProblem } from '@batonjs/lifecycle';
import type { TaskState } from '@batonjs/protocol';
import { A2AError, invalidParams } from '@batonjs/protocol/errors';
import { isoTime, isStoreId } from '@batonjs/server/internals';
import type { ListedTask, Scope } from '@batonjs/store';
import { isBusy, type Source, tried } from '../operated.ts';
import type { BulkOutcome, BulkPace, BulkProgress, BulkRequest } from './bulk.ts';
import { type ActionRun, actions } from './bulk-actions.ts';
import { type BulkCursor, firstCursor, isMoving, pageQuery, statesOf } from './bulk-cursor.ts';
import { BulkRecord, type BulkRun } from './bulk-record.ts';

/** How many tasks are worked on at once. */
const atOnce = 8;
/** How long a call is tried while the store does not answer, or the queue is full, in milliseconds. */
const tryForMs = 60_000;
/** More passes than this meet only tasks that change faster than they can be read. */
const mostPasses = 20;

/** A new run over the tasks of a scope, then of others; or the one that goes on. */
type Asked =
  | { readonly scope: Scope; readonly others?: readonly Scope[]; readonly request: BulkRequest }
  | { readonly resume: string };

/** A run in this process. It is recorded in the store, and goes on with `{ resume: id }`. */
export class BulkWork {
  readonly #record: BulkRecord | undefined;
  readonly #scopes: readonly Scope[];
  readonly #run: ActionRun;
  readonly #pace: BulkPace;
  readonly #states: readonly TaskState[];
  readonly #startedAt: number;
  #cursor: BulkCursor;
  #total = 0;
  #freeAt: number;
  /** The ids of open tasks that were met: they may move to the front of the list. */
  readonly #met = new Set<string>();

  private constructor(
    record: BulkRecord | undefined,
    begun: Pick<BulkRun, 'scope' | 'others' | 'request' | 'startedAt'>,
    pace: BulkPace,
    source: Source,
  ) {
    const { scope, others = [], request, startedAt } = begun;
    this.#record = record;
    this.#scopes = [scope, ...others];
    this.#pace = pace;
    this.#states = statesOf(request);
    this.#startedAt = startedAt;
    this.#run = { id: record?.run.id ?? '', request, dryRun: pace.dryRun ?? false, source };
    this.#cursor = record?.run.cursor ?? firstCursor;
    this.#freeAt = source.clock.monotonic();
  }

  /** Throws an `A2AError` for what cannot be done at all. */
  static async begin(asked: Asked, pace: BulkPace, source: Source): Promise<BulkWork> {
    const { queue, clock } = source;
    const { perSecond, dryRun = false } = pace;
    if (perSecond !== undefined && !(perSecond > 0))
      throw invalidParams([{ field: 'perSecond', description: 'must be more than 0' }]);
    if (dryRun && 'resume' in asked)
      throw invalidParams([{ field: 'dryRun', description: 'a run that is resumed has begun' }]);
    if ('resume' in asked) {
      const record = await BulkRecord.open(asked.resume, queue, source);
      if (record.run.isOver) throw new A2AError('UNSUPPORTED_OPERATION', 'The run has ended');
      return new BulkWork(record, record.run, pace, source);
    }
    mustBeAble(asked.request, source);
    const begun = { ...asked, startedAt: clock.now() };
    const record = pace.dryRun ? undefined : await BulkRecord.begin(begun, queue, source);
    return new BulkWork(record, begun, pace, source);
  }

  async *work(): AsyncGenerator<BulkProgress, void, undefined> {
    await this.#count();
    yield this.#progress([]);
    let isOver = false;
    try {
      while (!this.#isAborted && !isOver) {
        yield* this.#pass();
        if (this.#isAborted) break;
        isOver = this.#nextPass() && this.#nextScope();
      }
      if (isOver) await this.#record?.end(this.#cursor);
    } finally {
      // Also when the consumer leaves: what was done is not done again.
      if (!isOver) await this.#record?.note(this.#cursor);
    }
    yield this.#progress([], isOver);
  }

  get #scope(): Scope {
    return this.#scopes[this.#cursor.scope ?? 0] ?? '';
  }

  get #isAborted(): boolean {
    return this.#pace.signal?.aborted ?? false;
  }

  async #count(): Promise<void> {
    const { store } = this.#run.source;
    for (const scope of this.#scopes)
      for (const state of this.#states) {
        const {
          after: _,
          totalAtMost: __,
          ...query
        } = pageQuery(this.#run.request, state, { ...firstCursor, pass: 1 }, this.#startedAt);
        const page = await this.#tried(() => store.list(scope, { ...query, limit: 1 }));
        this.#total += page.total;
      }
  }

  /** Meets the tasks of one pass, in one state after another. */
  async *#pass(): AsyncGenerator<BulkProgress, void, undefined> {
    const { store, clock } = this.#run.source;
    if (this.#cursor.beganAt === 0) this.#cursor = { ...this.#cursor, beganAt: clock.now() };
    while (!this.#isAborted) {
      const state = this.#states[this.#cursor.state];
      if (state === undefined) return;
      if (this.#cursor.pass > 1 && !isMoving(state)) {
        this.#nextState();
        continue;
      }
      const query = pageQuery(this.#run.request, state, this.#cursor, this.#startedAt);
      const { tasks, isCut } = await this.#tried(() => store.list(this.#scope, query));
      yield* this.#page(tasks);
      if (this.#isAborted) return;
      const last = tasks.at(-1);
      if (!last || (tasks.length < query.limit && !isCut)) this.#nextState();
      else {
        const after = { statusAt: last.head.statusAt, taskId: last.taskId };
        this.#cursor = { ...this.#cursor, after };
      }
      if (tasks.length > 0) await this.#record?.note(this.#cursor);
    }
  }

  async *#page(tasks: readonly ListedTask[]): AsyncGenerator<BulkProgress, void, undefined> {
    const size = this.#sliceSize;
    for (let from = 0; from < tasks.length && !this.#isAborted; from += size) {
      const slice = tasks.slice(from, from + size);
      await this.#waitForTurn(slice.length);
      if (this.#isAborted) return;
      const acted = (await Promise.all(slice.map((task) => this.#act(task)))).filter(
        (one) => one !== undefined,
      );
      const count = (outcome: BulkOutcome['outcome']) =>
        acted.filter((one) => one.outcome === outcome).length;
      const { done, skipped, failed, changed } = this.#cursor;
      this.#cursor = {
        ...this.#cursor,
        done: done + count('done'),
        skipped: skipped + count('skipped'),
        failed: failed + count('failed'),
        changed: changed + count('done'),
      };
      if (acted.length > 0) yield this.#progress(acted);
    }
  }

  get #sliceSize(): number {
    const { perSecond = Number.POSITIVE_INFINITY } = this.#pace;
    return Math.max(1, Math.min(atOnce, Math.floor(perSecond / 10)));
  }

  async #waitForTurn(tasks: number): Promise<void> {
    const { clock } = this.#run.source;
    const { perSecond, signal } = this.#pace;
    if (perSecond === undefined) return;
    await clock.sleep(this.#freeAt - clock.monotonic(), signal);
    this.#freeAt = Math.max(this.#freeAt, clock.monotonic()) + (1_000 * tasks) / perSecond;
  }

  /** What became of a task; undefined for one that is not of this run. Rejects while the store does not answer. */
  async #act(task: ListedTask): Promise<BulkOutcome | undefined> {
    const { taskId } = task;
    const { pass } = this.#cursor;
    try {
      const acted = await this.#tried(async () => {
        if (pass !== 1 && (this.#met.has(taskId) || (await this.#isNewer(taskId)))) return undefined;
        return actions[this.#run.request.action]({ scope: this.#scope, ...task }, this.#run);
      });
      if (!task.head.closed) this.#met.add(taskId);
      // Before the run was resumed, it was met.
      if (!acted || (pass > 1 && acted.outcome === 'skipped')) return undefined;
      return { taskId, ...acted };
    } catch (error) {
      if (isBusy(error)) throw error;
      return { taskId, outcome: 'failed', reason: reasonOf(error) };
    }
  }

  #tried<T>(call: () => Promise<T>): Promise<T> {
    return tried(call, this.#run.source.clock, tryForMs, this.#pace.signal);
  }

  /** Whether a task began after the run did. One that begins later than now is of a clock that is ahead. */
  async #isNewer(taskId: string): Promise<boolean> {
    const [first] = await this.#run.source.store.readFacts(this.#scope, taskId, 0, 1);
    const { clock } = this.#run.source;
    return !first || (first.fact.at > isoTime(this.#startedAt) && first.fact.at <= isoTime(clock.now()));
  }

  #nextState(): void {
    const { after: _, ...cursor } = this.#cursor;
    this.#cursor = { ...cursor, state: cursor.state + 1 };
  }

  /** Goes on to the tasks of the next scope. Returns true if there is none. */
  #nextScope(): boolean {
    const { scope = 0, done, skipped, failed } = this.#cursor;
    if (scope + 1 >= this.#scopes.length) return true;
    this.#cursor = { ...firstCursor, scope: scope + 1, done, skipped, failed };
    this.#met.clear();
    return false;
  }

  /** Goes on to the next pass. Returns true if there is none. */
  #nextPass(): boolean {
    const { pass, changed, beganAt } = this.#cursor;
    const { after: _, ...cursor } = this.#cursor;
    if (pass === 0) {
      this.#cursor = { ...cursor, pass: 1, state: 0 };
      return false;
    }
    const canMove = this.#states.some(isMoving) && !this.#run.dryRun;
    if (!canMove || pass >= mostPasses || (pass > 1 && changed === 0)) return true;
    // Of the pass before, and a little earlier: clocks of processes differ.
    this.#cursor = { ...cursor, pass: pass + 1, since: beganAt - 5_000, beganAt: 0, state: 0, changed: 0 };
    return false;
  }

  #progress(tasks: readonly BulkOutcome[], isOver = false): BulkProgress {
    const { done, skipped, failed } = this.#cursor;
    const { id, request } = this.#run;
    return { id, action: request.action, total: this.#total, done, skipped, failed, tasks, isOver };
  }
}

/** Throws an `A2AError` for a run that could do nothing at all. */
function mustBeAble(request: BulkRequest, { store, webhooks }: Source): void {
  const { action, labels, since } = request;
  statesOf(request);
  const problem = labels && labelProblem(labels);
  if (problem) throw invalidParams([{ field: 'labels', description: problem }]);
  for (const field of ['skill', 'code', 'contextId'] as const) {
    const word = request[field];
    if (word !== undefined && !isStoreId(word))
      throw invalidParams([{ field, description: 'must be a text of 1 to 1,024 characters' }]);
  }
  if (since !== undefined && Number.isNaN(new Date(since).getTime()))
    throw invalidParams([{ field: 'since', description: 'must be a time in milliseconds since 1970' }]);
  if (action === 'delete' && !store.erase)
    throw new A2AError('UNSUPPORTED_OPERATION', 'The store erases no tasks');
  if (action === 'retry-webhooks' && !webhooks) throw new A2AError('PUSH_NOTIFICATION_NOT_SUPPORTED');
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
