import { FACT_FORMAT } from '@batonjs/lifecycle';
import { A2AError } from '@batonjs/protocol/errors';
import { allRecords, insideOf, isoTime, newId, orderFor, recordName } from '@batonjs/server/internals';
import { type Scope, StoreError, type TaskName, type TaskQuery, type TaskStore } from '@batonjs/store';
import { deletionsOf } from '@batonjs/store/rules';
import { originOf } from './fork-task.ts';
import { type OfCaller, type Operated, type Source, scopeIn, sourceOf } from './operated.ts';

/** Names one task, those of a context, or all of a caller. */
export interface EraseOptions extends OfCaller {
  /** Only this task. */
  readonly taskId?: string | undefined;
  /** Only tasks of this context. */
  readonly contextId?: string | undefined;
  /** How long each task at work is waited for, in milliseconds. Default: `timeouts.cancelMs` of the server, or 10,000. */
  readonly waitMs?: number | undefined;
  /** Says how much would be erased, and changes nothing: `left` are those at work. Default false. */
  readonly dryRun?: boolean | undefined;
  /** Nothing more is canceled or waited for. */
  readonly signal?: AbortSignal | undefined;
}

/** What was erased. */
export interface Erasure {
  readonly tasks: number;
  readonly facts: number;
  readonly webhooks: number;
  /** Files that lie apart from the logs; absent where only the store of the agent is known. */
  readonly files?: number;
  /** How many of the tasks are forks of others; of a dry run only. */
  readonly forks?: number;
  /** Recurring tasks of the caller; absent unless all of its tasks are meant. */
  readonly schedules?: number;
  /** Ids of tasks that were asked to cancel and have not ended yet: call again to erase them. */
  readonly left: readonly string[];
}

/**
 * Deletes a task, the tasks of a context or all tasks of a caller, with their webhooks and all that names them: at once if they
 * have ended, otherwise after a cancel. A process of the agent carries that out. With all tasks of a caller go its records.
 * Tells how much; calling it again goes on where it ended. Rejects with `UNSUPPORTED_OPERATION` at a store that cannot.
 */
export async function eraseTasks(agent: Operated, options: EraseOptions): Promise<Erasure> {
  const source = sourceOf(agent);
  const { store, queue, webhooks } = source;
  const scope = scopeIn(source, options);
  const { taskId, contextId, signal, dryRun = false } = options;
  const { waitMs = insideOf(agent)?.dependencies.options.timeouts.cancelMs ?? 10_000 } = options;
  const erase = store.erase?.bind(store);
  if (!erase) throw new A2AError('UNSUPPORTED_OPERATION', 'The store erases no tasks');
  const done = { tasks: 0, facts: 0, webhooks: 0 };
  const counted: { files?: number; forks?: number; schedules?: number } = {
    ...(source.files && { files: 0 }),
    ...(dryRun && { forks: 0 }),
  };
  const forget = async (id?: string) => {
    if (source.files) counted.files! += await source.files.forget(scope, id, dryRun);
  };
  const left: string[] = [];
  const look = async (id: string): Promise<void> => {
    const log = await store.load(scope, id);
    if (!log) return;
    done.tasks += 1;
    done.facts += log.version;
    done.webhooks += (await webhooks?.listPushConfigs(scope, id, { limit: mostWebhooks }))?.length ?? 0;
    counted.forks! += Number((await originOf({ scope, taskId: id }, store)) !== undefined);
    await forget(id);
    if (!log.head.closed) left.push(id);
  };
  const eraseOne = async (id: string): Promise<void> => {
    if (dryRun) return look(id);
    let erased = await erase(scope, id);
    if (erased === 'open') {
      await end({ scope, taskId: id }, { waitMs, signal }, source);
      erased = await erase(scope, id);
    }
    if (erased === 'open') left.push(id);
    else if (erased) {
      await forget(id);
      done.tasks += 1;
      done.facts += erased.facts;
      done.webhooks += erased.webhooks;
    }
  };
  if (taskId !== undefined) await eraseOne(taskId);
  else for await (const id of tasksOf(scope, contextId, store)) await eraseOne(id);
  // A fork that began meanwhile is at the front of the list. What else began there says nothing of what was erased.
  const isNewFork = async (id: string) =>
    !left.includes(id) && (await originOf({ scope, taskId: id }, store)) !== undefined;
  for (let before = 0; !dryRun && taskId === undefined && before < done.tasks; ) {
    before = done.tasks;
    for await (const id of tasksOf(scope, contextId, store)) if (await isNewFork(id)) await eraseOne(id);
  }
  if (taskId === undefined && contextId === undefined) {
    await forget();
    counted.schedules = 0;
    for (const query of [{ scope }, { prefix: deletionsOf(scope) }])
      for (const { name } of await allRecords(store, query)) {
        if (name.startsWith(recordName('schedules', ''))) counted.schedules += 1;
        if (!dryRun) await store.deleteRecord(name);
      }
  }
  const erasure = { ...done, ...counted, left };
  if (dryRun || !store.forgetTurns) return erasure;
  const { tasks } = await store.list(scope, { answered: true, limit: 1 });
  if (tasks.length === 0) await store.forgetTurns(queue, scope);
  return erasure;
}

const pageSize = 100;
/** The most webhooks of a task that a dry run counts. */
const mostWebhooks = 1_000;

/** The ids of the tasks of a scope. One that is canceled meanwhile moves to the front of the list: it is met once. */
async function* tasksOf(scope: Scope, contextId: string | undefined, store: TaskStore) {
  for (let after: TaskQuery['after']; ; ) {
    const query: TaskQuery = {
      answered: true,
      limit: pageSize,
      ...(contextId !== undefined && { contextId }),
      ...(after && { after }),
    };
    const { tasks } = await store.list(scope, query);
    for (const { taskId } of tasks) yield taskId;
    const last = tasks.at(-1);
    if (!last || tasks.length < pageSize) return;
    after = { statusAt: last.head.statusAt, taskId: last.taskId };
  }
}

/** How often the log of a task is looked at that is to end, in milliseconds. */
const lookEveryMs = 100;

/** Cancels a task, and waits until a process of the agent has ended it, for up to `waitMs` milliseconds. */
async function end(
  { scope, taskId }: TaskName,
  { waitMs, signal }: { readonly waitMs: number; readonly signal: AbortSignal | undefined },
  source: Source,
): Promise<void> {
  signal?.throwIfAborted();
  const { store, clock } = source;
  const deadline = clock.monotonic() + waitMs;
  if ((await cancelStored({ scope, taskId }, source)) === 'it has ended') return;
  const hasEnded = async () => (await store.load(scope, taskId))?.head.closed ?? true;
  while (!(await hasEnded()) && clock.monotonic() < deadline && !signal?.aborted)
    await clock.sleep(lookEveryMs, signal);
}

/**
 * Asks for the end of a task, by its log. A process that runs the agent carries it out. Resolves to the reason why there is
 * nothing to ask for, or to undefined.
 */
export async function cancelStored(
  { scope, taskId }: TaskName,
  { store, clock, queue, schedule }: Source,
): Promise<string | undefined> {
  try {
    const { repeated } = await store.commit({
      scope,
      taskId,
      commitId: newId(clock),
      expectedVersion: 'open',
      facts: [{ format: FACT_FORMAT, at: isoTime(clock.now()), type: 'cancel-requested' }],
      once: 'cancel',
      // No code of the agent goes on: any version may carry it out.
      turn: { queue, want: true, version: null, ...orderFor(schedule, { priority: 9 }) },
    });
    return repeated ? 'it was asked to cancel before' : undefined;
  } catch (error) {
    if (StoreError.is(error, 'LOG_CLOSED')) return 'it has ended';
    if (StoreError.is(error, 'VERSION_CONFLICT')) return 'it is gone';
    throw error;
  }
}
