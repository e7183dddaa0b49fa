import { labelProblem } from '@batonjs/lifecycle';
import { A2AError, invalidParams } from '@batonjs/protocol/errors';
import { isoTime, isStoreId } from '@batonjs/server/internals';
import type { ListedTask, Scope } from '@batonjs/store';
import { isBusy, type Source, tried } from '../operated.ts';
import type { BulkOutcome, BulkPace, BulkProgress, BulkRequest } from './bulk.ts';
import { type ActionRun, actions } from './bulk-actions.ts';
import { type BulkCursor, firstCursor, isMoving, pageQuery, statesOf } from './bulk-cursor.ts';
import { type BulkRecord, type BulkRun, beginRecord, openRecord } from './bulk-record.ts';

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

/**
 * Begins a run in this process, or goes on with one. It is recorded in the store, and goes on with `{ resume: id }`. Rejects
 * with an `A2AError` for what cannot be done at all.
 */
export async function bulkWork(asked: Asked, pace: BulkPace, source: Source) {
  const { queue, clock } = source;
  const { perSecond, dryRun = false } = pace;
  if (perSecond !== undefined && !(perSecond > 0))
    throw invalidParams([{ field: 'perSecond', description: 'must be more than 0' }]);
  if (dryRun && 'resume' in asked)
    throw invalidParams([{ field: 'dryRun', description: 'a run that is resumed has begun' }]);
  if ('resume' in asked) {
    const record = await openRecord(asked.resume, queue, source);
    if (record.run.isOver) throw new A2AError('UNSUPPORTED_OPERATION', 'The run has ended');
    return work(record, record.run, pace, source);
  }
  mustBeAble(asked.request, source);
  const begun = { ...asked, startedAt: clock.now() };
  const record = dryRun ? undefined : await beginRecord(begun, queue, source);
  return work(record, begun, pace, source);
}

async function* work(
  record: BulkRecord | undefined,
  begun: Pick<BulkRun, 'scope' | 'others' | 'request' | 'startedAt'>,
  { perSecond, signal, dryRun = false }: BulkPace,
  source: Source,
): AsyncGenerator<BulkProgress, void, undefined> {
  const { store, clock } = source;
  const { others = [], request, startedAt } = begun;
  const scopes = [begun.scope, ...others];
  const states = statesOf(request);
  const run: ActionRun = { id: record?.run.id ?? '', request, dryRun, source };
  /** The ids of open tasks that were met: they may move to the front of the list. */
  const met = new Set<string>();
  let cursor: BulkCursor = record?.run.cursor ?? firstCursor;
  let total = 0;
  let freeAt = clock.monotonic();
  const scopeNow = (): Scope => scopes[cursor.scope ?? 0] ?? '';
  const isAborted = (): boolean => signal?.aborted ?? false;
  const answered = <T>(call: () => Promise<T>): Promise<T> => tried(call, clock, tryForMs, signal);

  async function count(): Promise<void> {
    for (const scope of scopes)
      for (const state of states) {
        const counting = pageQuery(request, state, { ...firstCursor, pass: 1 }, startedAt);
        const { after: _, totalAtMost: __, ...query } = counting;
        total += (await answered(() => store.list(scope, { ...query, limit: 1 }))).total;
      }
  }

  /** Meets the tasks of one pass, in one state after another. */
  async function* pass(): AsyncGenerator<BulkProgress, void, undefined> {
    if (cursor.beganAt === 0) cursor = { ...cursor, beganAt: clock.now() };
    while (!isAborted()) {
      const state = states[cursor.state];
      if (state === undefined) return;
      if (cursor.pass > 1 && !isMoving(state)) {
        nextState();
        continue;
      }
      const query = pageQuery(request, state, cursor, startedAt);
      const { tasks, isCut } = await answered(() => store.list(scopeNow(), query));
      yield* page(tasks);
      if (isAborted()) return;
      const last = tasks.at(-1);
      if (!last || (tasks.length < query.limit && !isCut)) nextState();
      else cursor = { ...cursor, after: { statusAt: last.head.statusAt, taskId: last.taskId } };
      if (tasks.length > 0) await record?.note(cursor);
    }
  }

  async function* page(tasks: readonly ListedTask[]): AsyncGenerator<BulkProgress, void, undefined> {
    const size = Math.max(1, Math.min(atOnce, Math.floor((perSecond ?? Number.POSITIVE_INFINITY) / 10)));
    for (let from = 0; from < tasks.length && !isAborted(); from += size) {
      const slice = tasks.slice(from, from + size);
      await waitForTurn(slice.length);
      if (isAborted()) return;
      const acted = (await Promise.all(slice.map(act))).filter((one) => one !== undefined);
      const some = (outcome: BulkOutcome['outcome']) => acted.filter((one) => one.outcome === outcome).length;
      const { done, skipped, failed, changed } = cursor;
      cursor = {
        ...cursor,
        done: done + some('done'),
        skipped: skipped + some('skipped'),
        failed: failed + some('failed'),
        changed: changed + some('done'),
      };
      if (acted.length > 0) yield progress(acted);
    }
  }

  async function waitForTurn(tasks: number): Promise<void> {
    if (perSecond === undefined) return;
    await clock.sleep(freeAt - clock.monotonic(), signal);
    freeAt = Math.max(freeAt, clock.monotonic()) + (1_000 * tasks) / perSecond;
  }

  /** What became of a task; undefined for one that is not of this run. Rejects while the store does not answer. */
  async function act(task: ListedTask): Promise<BulkOutcome | undefined> {
    const { taskId } = task;
    const { pass } = cursor;
    try {
      const acted = await answered(async () => {
        if (pass !== 1 && (met.has(taskId) || (await isNewer(taskId)))) return undefined;
        return actions[request.action]({ scope: scopeNow(), ...task }, run);
      });
      if (!task.head.closed) met.add(taskId);
      // Before the run was resumed, it was met.
      if (!acted || (pass > 1 && acted.outcome === 'skipped')) return undefined;
      return { taskId, ...acted };
    } catch (error) {
      if (isBusy(error)) throw error;
      return { taskId, outcome: 'failed', reason: reasonOf(error) };
    }
  }

  /** Whether a task began after the run did. One that begins later than now is of a clock that is ahead. */
  async function isNewer(taskId: string): Promise<boolean> {
    const [first] = await store.readFacts(scopeNow(), taskId, 0, 1);
    return !first || (first.fact.at > isoTime(startedAt) && first.fact.at <= isoTime(clock.now()));
  }

  function nextState(): void {
    const { after: _, ...rest } = cursor;
    cursor = { ...rest, state: rest.state + 1 };
  }

  /** Goes on to the tasks of the next scope. Returns true if there is none. */
  function nextScope(): boolean {
    const { scope = 0, done, skipped, failed } = cursor;
    if (scope + 1 >= scopes.length) return true;
    cursor = { ...firstCursor, scope: scope + 1, done, skipped, failed };
    met.clear();
    return false;
  }

  /** Goes on to the next pass. Returns true if there is none. */
  function nextPass(): boolean {
    const { after: _, ...rest } = cursor;
    const { pass, changed, beganAt } = rest;
    if (pass === 0) {
      cursor = { ...rest, pass: 1, state: 0 };
      return false;
    }
    const canMove = states.some(isMoving) && !dryRun;
    if (!canMove || pass >= mostPasses || (pass > 1 && changed === 0)) return true;
    // Of the pass before, and a little earlier: clocks of processes differ.
    cursor = { ...rest, pass: pass + 1, since: beganAt - 5_000, beganAt: 0, state: 0, changed: 0 };
    return false;
  }

  function progress(tasks: readonly BulkOutcome[], isOver = false): BulkProgress {
    const { done, skipped, failed } = cursor;
    return { id: run.id, action: request.action, total, done, skipped, failed, tasks, isOver };
  }

  await count();
  yield progress([]);
  let isOver = false;
  try {
    while (!isAborted() && !isOver) {
      yield* pass();
      if (isAborted()) break;
      isOver = nextPass() && nextScope();
    }
    if (isOver) await record?.end(cursor);
  } finally {
    // Also when the consumer leaves: what was done is not done again.
    if (!isOver) await record?.note(cursor);
  }
  yield progress([], isOver);
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
