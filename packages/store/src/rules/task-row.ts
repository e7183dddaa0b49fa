import type { Head } from '@batonjs/lifecycle';
import type { TaskState } from '@batonjs/protocol';
import type { LeaseReading, Scope, TurnSchedule } from '../port/lease.ts';
import type { PushConfig, PushConfigName } from '../port/push-config-store.ts';
import type { TaskRow, WebhookRow } from '../port/rows.ts';
import type { Notification } from '../port/task-store.ts';
import type { Moment } from './moment.ts';

/** The columns from which the others follow. */
export type TaskFacts = Omit<TaskRow, 'revision' | 'waitingSince' | 'dueAt' | 'turnAt' | 'endedAt'>;

/**
 * The row that replaces `before`: its places in queues and schedules, and whether it may be deleted. `isUndelivered`:
 * a webhook of the task has not heard of all facts.
 */
export function placed(
  before: TaskRow | undefined,
  facts: TaskFacts,
  isUndelivered: boolean,
  { now, orderNow }: Pick<Moment, 'now' | 'orderNow'>,
): TaskRow {
  const { head, queue, wanted, holder, aheadMs } = facts;
  const isFree = head !== undefined && !head.closed && holder === undefined && queue !== undefined;
  const waitingSince = isFree && wanted ? (before?.waitingSince ?? orderNow) : undefined;
  const dueAt = isFree && !wanted && head.dueAt !== undefined ? Date.parse(head.dueAt) : undefined;
  const from = waitingSince ?? dueAt;
  return {
    scope: facts.scope,
    taskId: facts.taskId,
    revision: before ? before.revision + 1 : Math.floor(now),
    version: facts.version,
    head,
    lastAt: facts.lastAt,
    webhooks: facts.webhooks,
    queue,
    wanted,
    fence: facts.fence,
    holder,
    aheadMs,
    waitingSince,
    dueAt,
    leaseUntil: facts.leaseUntil,
    leasedAt: facts.leasedAt,
    turnAt: from === undefined || aheadMs === undefined ? undefined : from - aheadMs,
    endedAt: head?.closed && !isUndelivered ? endOf(head) : undefined,
  };
}

/** When a closed log counts as having ended, in milliseconds since 1970. */
export const endOf = ({ statusAt, keepMs = 0 }: Head): number => Date.parse(statusAt) + keepMs;

/** The state that a log is listed and counted under: `''` while it is no task. */
export const stateOf = ({ head }: TaskRow): string => head?.state ?? '';

/** The context of a log: `''` while it is empty. */
export const contextOf = ({ head }: TaskRow): string => head?.contextId ?? '';

export const leaseReading = ({ fence, holder, wanted }: TaskRow): LeaseReading => ({
  fence,
  ...(holder !== undefined && { holder }),
  isWanted: wanted,
});

/** The states in which a task waits for its client. */
export const askingStates: readonly TaskState[] = ['TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED'];

/** Whether a task waits for an answer of its client: no process has it, and it wants none. */
export const isAsking = (row: TaskRow): boolean => {
  const name = countedAs(row);
  return name !== undefined && name !== postponed;
};

/** Whether a turn of the task begins or goes on at a later time. */
export const isPostponed = (row: TaskRow): boolean => countedAs(row) === postponed;

/**
 * The name under which a queue counts a row beside those that wait: the state in which it asks, `put-off`, or none. A row
 * with a holder has none: callers on the way of each commit look at that first.
 */
export function countedAs(row: TaskRow | undefined): string | undefined {
  if (row?.head === undefined || row.holder !== undefined || row.wanted || row.queue === undefined)
    return undefined;
  const { state } = row.head;
  if (state !== undefined && askingStates.includes(state)) return state;
  return row.dueAt === undefined ? undefined : postponed;
}

/** The `countedAs` of turns that are postponed. */
export const postponed = 'put-off';

const mark = '\u001fversion\u001f';

/** Where a task is claimed from while its turn is pinned to a version; undefined: to none. */
export const pinnedQueue = (queue: string, version: string | null | undefined): string =>
  typeof version === 'string' ? queue + mark + version : queue;

/** The queue of the commits and claims that name it. */
export function plainQueue(queue: string): string {
  const end = queue.indexOf(mark);
  return end < 0 ? queue : queue.slice(0, end);
}

/** The version that a task is pinned to, of a queue as the row has it. */
export const versionIn = (queue: string): string | undefined => queue.split(mark)[1];

/** The columns from which the others follow. */
export type WebhookFacts = Omit<WebhookRow, 'revision' | 'readyAt'>;

/** Whether the webhook has not heard of all facts of a log of this length, and still may. */
export const isBehind = ({ dead, cursor }: WebhookFacts, version: number): boolean =>
  dead === undefined && cursor < version;

/** The row that replaces `before`, of a task whose log has this length: when its next delivery may begin. */
export function plannedWebhook(
  before: WebhookRow | undefined,
  webhook: WebhookFacts,
  version: number,
  now: number,
): WebhookRow {
  const { scope, taskId, id, config, protocolVersion, queue, cursor, attempts, retryAt, dead } = webhook;
  const { fence, holder, leaseUntil } = webhook;
  const isHeld = holder !== undefined;
  const readyAt = isHeld ? leaseUntil : retryAt === undefined ? now : Date.parse(retryAt);
  return {
    scope,
    taskId,
    id,
    config,
    protocolVersion,
    queue,
    cursor,
    attempts,
    retryAt,
    dead,
    revision: before ? before.revision + 1 : Math.floor(now),
    fence,
    holder,
    leaseUntil: isHeld ? leaseUntil : undefined,
    readyAt: isBehind(webhook, version) ? readyAt : undefined,
  };
}

/** After which time and up to which one the `readyAt` of wanted deliveries lies. */
export const readyBetween = (
  { aheadMs = 0, beyondMs }: { aheadMs?: number; beyondMs?: number | undefined },
  now: number,
) =>
  beyondMs === undefined
    ? ([-1, now + aheadMs] as const)
    : ([now + beyondMs, Number.MAX_SAFE_INTEGER] as const);

/** The notification that a delivery can be claimed now, or none. */
export const readyWebhook = ({ queue, holder, readyAt }: WebhookRow, now: number): Notification[] =>
  holder === undefined && readyAt !== undefined && readyAt <= now ? [{ queue }] : [];

/** What callers see of a webhook. */
export function pushConfigOf(row: WebhookRow): PushConfig {
  const { scope, taskId, id, config, protocolVersion, queue, cursor, attempts, retryAt, dead } = row;
  return {
    ...{ scope, taskId, id, config, protocolVersion, queue, cursor, attempts },
    ...(retryAt !== undefined && { retryAt }),
    ...(dead !== undefined && { dead }),
  };
}

/** The order of webhooks: by scope, task and id. */
export function byName(a: PushConfigName, b: PushConfigName): number {
  for (const key of ['scope', 'taskId', 'id'] as const)
    if (a[key] !== b[key]) return a[key] < b[key] ? -1 : 1;
  return 0;
}

/** The caller and the context of a task. Equal keys of contexts are equal contexts within one scope. */
export interface TurnPlace {
  readonly scope: Scope;
  readonly context: string;
}

/** Counts the turns that run, and says which may start beside them. In memory: a store makes one for each claim. */
export class TurnGate {
  readonly #schedule: TurnSchedule;
  readonly #callers = new Map<Scope, { turns: number; readonly contexts: Map<string, number> }>();
  #turns = 0;

  constructor(schedule: TurnSchedule, running: Iterable<TurnPlace>) {
    this.#schedule = schedule;
    for (const place of running) this.enter(place);
  }

  /** How many more turns may start, of all callers together. */
  get room(): number {
    return Math.max(0, (this.#schedule.concurrency ?? Number.POSITIVE_INFINITY) - this.#turns);
  }

  /** Whether one more turn of this caller may start, in some context. */
  admitsCaller(scope: Scope): boolean {
    const { perCaller = Number.POSITIVE_INFINITY } = this.#schedule;
    return this.room > 0 && (this.#callers.get(scope)?.turns ?? 0) < perCaller;
  }

  admits({ scope, context }: TurnPlace): boolean {
    return this.admitsCaller(scope) && !this.#isFull(this.#callers.get(scope)?.contexts.get(context));
  }

  /** The contexts of a caller in which no turn may start. */
  fullContexts(scope: Scope): string[] {
    const caller = this.#callers.get(scope);
    if (!caller) return [];
    return [...caller.contexts].filter(([, turns]) => this.#isFull(turns)).map(([context]) => context);
  }

  /** One more turn runs. */
  enter({ scope, context }: TurnPlace): void {
    const caller = this.#callers.get(scope) ?? { turns: 0, contexts: new Map() };
    this.#callers.set(scope, caller);
    caller.turns++;
    caller.contexts.set(context, (caller.contexts.get(context) ?? 0) + 1);
    this.#turns++;
  }

  #isFull(turns = 0): boolean {
    return turns >= (this.#schedule.perContext ?? Number.POSITIVE_INFINITY);
  }
}

/**
 * Picks up to `limit` tasks that may start, one of each caller in turn. `callers` has the tasks of each caller, the most
 * urgent first, and the callers in the order in which they come next. Enters what it picks into the gate.
 */
export function pickTurns<Task extends TurnPlace>(
  gate: TurnGate,
  callers: Iterable<Iterable<Task>>,
  limit: number,
): Task[] {
  const picked: Task[] = [];
  let left = Array.from(callers, (tasks) => tasks[Symbol.iterator]());
  while (left.length > 0) {
    left = left.filter((tasks) => {
      if (picked.length >= limit) return false;
      for (let next = tasks.next(); !next.done; next = tasks.next()) {
        if (!gate.admits(next.value)) continue;
        gate.enter(next.value);
        picked.push(next.value);
        return true;
      }
      return false;
    });
  }
  return picked;
}
