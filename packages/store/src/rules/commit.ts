import type { Fact } from '@batonjs/lifecycle';
import { type Commit, type Committed, StoreError } from '../port/commit.ts';
import type { Lease } from '../port/lease.ts';
import type { TaskRow, WebhookRow } from '../port/rows.ts';
import type { Notification } from '../port/task-store.ts';
import { type Change, type Found, foundTask, type Step, type Wanted } from './change.ts';
import type { Moment } from './moment.ts';
import { deletionOf, isDeletion } from './prune.ts';
import { foundRecord } from './record.ts';
import { isBehind, pinnedQueue, placed, plainQueue, plannedWebhook, readyWebhook } from './task-row.ts';

/** A commit as it was when it was given, with its facts and its snapshot as the database keeps them. */
export interface PreparedCommit<Json> {
  readonly commit: Commit;
  readonly facts: readonly Json[];
  readonly snapshot: { readonly version: number; readonly json: Json } | undefined;
  readonly encode: (fact: Fact) => Json;
}

/** The decision about a commit. It throws the `StoreError` that the store rejects with; see `TaskStore.commit`. */
export function commitStep<Json>(prepared: PreparedCommit<Json>): Step<Committed, Json> {
  const { scope, taskId, once, turn, origin, unlessDeleted } = prepared.commit;
  const wanted: Wanted = {
    tasks: [{ scope, taskId, once }, ...(origin === undefined ? none : [{ scope, taskId: origin }])],
    ...(unlessDeleted && { records: [deletionOf({ scope, taskId })] }),
    webhooks: true,
    waiting:
      turn?.waitingAtMost === undefined ? undefined : { queue: turn.queue, atMost: turn.waitingAtMost },
  };
  return { wanted, decide: (found) => decideCommit(prepared, found) };
}

function decideCommit<Json>(prepared: PreparedCommit<Json>, found: Found): Change<Committed, Json> {
  const { commit, snapshot } = prepared;
  const { row: before, webhooks, once: counted } = foundTask(found);
  if (counted !== undefined) return { result: { version: counted, repeated: true } };
  const { once, commitId, text } = commit;
  const facts = orderedFacts(prepared, before);
  const after = admit(before, commit, found, { webhooks, lastAt: facts.lastAt });
  if (commit.unlessDeleted && isDeletion(foundRecord(found), found)) throw gone(commit.taskId);
  if (commit.origin !== undefined && !found.tasks?.[1]?.row?.head) throw gone(commit.origin);
  mustHaveRoom(after, commit, found.waiting ?? 0);
  const planned =
    webhooks.length === 0 ? none : webhooks.map((one) => grownWebhook(one, after.version, found.now));
  const grown = planned.length === 0 ? none : planned.filter((one) => one.after !== one.before);
  return {
    result: { version: after.version, lease: granted(after, commit) },
    tasks: [{ before, after, facts: facts.json, commitId, snapshot, once, text }],
    webhooks: grown.length === 0 ? undefined : grown,
    notify: notificationsOf(before, after, commit, planned, found.now),
  };
}

const none: readonly never[] = [];

/** The error of a commit whose log was deleted, or whose `origin` has none. */
export const gone = (taskId: string): StoreError =>
  new StoreError('LOG_DELETED', `There is no task ${taskId} any more`);

/** The facts as they are kept, and when the last one happened. */
function orderedFacts<Json>(
  { commit, facts, encode }: PreparedCommit<Json>,
  before: TaskRow | undefined,
): { readonly json: readonly Json[]; readonly lastAt: string | undefined } {
  const ordered = factsInOrder(commit, before?.lastAt);
  if (ordered === commit.facts) return { json: facts, lastAt: ordered.at(-1)?.at };
  const json = ordered.map((fact, n) => {
    const encoded = fact === commit.facts[n] ? facts[n] : undefined;
    return encoded ?? encode(fact);
  });
  return { json, lastAt: ordered.at(-1)?.at };
}

/** A webhook before and after a commit. */
interface Grown {
  readonly before: WebhookRow;
  readonly after: WebhookRow;
}

/** The webhook of a log that grew to this length: it has something to deliver now, if it had not before. */
function grownWebhook(before: WebhookRow, version: number, now: number): Grown {
  const isNews = before.readyAt === undefined && isBehind(before, version);
  return { before, after: isNews ? plannedWebhook(before, before, version, now) : before };
}

function notificationsOf(
  before: TaskRow | undefined,
  after: TaskRow,
  { facts, scope, taskId, turn }: Commit,
  webhooks: readonly Grown[],
  now: number,
): readonly Notification[] {
  const { waitingSince, queue } = after;
  // A task that begins to wait was asked to.
  const isNews = queue !== undefined && waitingSince !== undefined && (turn?.want || before?.queue !== queue);
  const waiting = isNews ? [{ queue: plainQueue(queue) }] : none;
  if (facts.length === 0) return waiting;
  const grown = { scope, taskId, version: after.version };
  if (webhooks.length === 0) return isNews ? [grown, ...waiting] : [grown];
  return [...webhooks.flatMap((webhook) => readyWebhook(webhook.after, now)), grown, ...waiting];
}

/**
 * The row after a commit. Throws the `StoreError` that the commit is refused with. Pure; called once it is known that
 * `once` is new. `lastAt`: when the last of its facts happened.
 */
export function admit(
  row: TaskRow | undefined,
  commit: Commit,
  moment: Moment,
  { webhooks, lastAt }: { readonly webhooks: readonly WebhookRow[]; readonly lastAt: string | undefined },
): TaskRow {
  mustMakeSense(commit);
  mustBeAdmissible(row, commit);
  const { scope, taskId, facts, turn } = commit;
  const head = commit.head ?? row?.head;
  if (!head) throw new StoreError('INVALID_COMMIT', 'The first commit of a log needs a head');
  const version = (row?.version ?? 0) + facts.length;
  let wanted = row?.wanted ?? false;
  let fence = row?.fence ?? 0;
  let holder = row?.holder;
  let leaseUntil = row?.leaseUntil;
  let leasedAt = row?.leasedAt;
  if (head.closed || turn?.release) {
    wanted = !head.closed && turn?.want === true;
    holder = undefined;
    leaseUntil = undefined;
    leasedAt = undefined;
  } else if (turn?.acquire && holder === undefined) {
    wanted = false;
    fence += 1;
    holder = turn.acquire.holder;
    leaseUntil = moment.leaseNow + turn.acquire.ttlMs;
    leasedAt = moment.leaseNow;
  } else if (turn?.want) wanted = true;
  const isUndelivered = webhooks.some((webhook) => isBehind(webhook, version));
  return placed(
    row,
    {
      scope,
      taskId,
      version,
      head,
      lastAt: lastAt ?? row?.lastAt ?? '',
      webhooks: row?.webhooks ?? 0,
      queue: queueAfter(row, head.closed, turn),
      wanted,
      fence,
      holder,
      aheadMs: turn?.aheadMs === undefined ? row?.aheadMs : aheadAfter(row, turn.aheadMs),
      leaseUntil,
      leasedAt,
    },
    isUndelivered,
    moment,
  );
}

/** The queue of a row after a commit. What comes while a turn is open, such as a message, leaves the turn its version. */
function queueAfter(row: TaskRow | undefined, isClosed: boolean, turn: Commit['turn']): string | undefined {
  const known = row?.queue;
  if (!turn) return isClosed && known !== undefined ? plainQueue(known) : known;
  const { queue, version, release } = turn;
  if (isClosed) return queue;
  if (typeof version === 'string') return pinnedQueue(queue, version);
  // Most turns are pinned to no version: their rows name the queue itself.
  const isKept = version === undefined && !release && known !== undefined && known !== queue;
  return isKept && plainQueue(known) === queue ? known : queue;
}

function mustBeAdmissible(row: TaskRow | undefined, { taskId, expectedVersion, writer }: Commit): void {
  const version = row?.version ?? 0;
  if (writer && (row?.fence !== writer.fence || row.holder !== writer.holder))
    throw new StoreError('FENCED', `${writer.holder} does not hold task ${taskId} any more`);
  if (row?.head?.closed) throw new StoreError('LOG_CLOSED', `The log of task ${taskId} is closed`);
  if (expectedVersion === 'open') {
    if (version === 0) throw new StoreError('VERSION_CONFLICT', `Task ${taskId} has no log to append to`);
  } else if (expectedVersion !== version)
    throw new StoreError(
      'VERSION_CONFLICT',
      `The log of task ${taskId} is at ${version}, not ${expectedVersion}`,
    );
}

/** A task that waits becomes more urgent, and never less. */
function aheadAfter(row: TaskRow | undefined, aheadMs: number): number {
  const isWaiting = row?.wanted && row.holder === undefined;
  return isWaiting && row.aheadMs !== undefined ? Math.max(row.aheadMs, aheadMs) : aheadMs;
}

/** Throws `QUEUE_FULL` if the task waits, and as many wait in its queue already as the commit allows. */
function mustHaveRoom({ waitingSince }: TaskRow, { turn }: Commit, waiting: number): void {
  if (turn?.waitingAtMost === undefined || waitingSince === undefined) return;
  if (waiting < turn.waitingAtMost) return;
  throw new StoreError(
    'QUEUE_FULL',
    `${turn.waitingAtMost} tasks of queue ${turn.queue} are waiting for a turn already`,
  );
}

/** The lease that the commit acquired, or undefined. */
export function granted({ fence, holder }: TaskRow, { scope, taskId, turn }: Commit): Lease | undefined {
  if (!turn?.acquire || holder !== turn.acquire.holder) return undefined;
  return { scope, taskId, queue: turn.queue, holder, fence, cause: 'committed' };
}

/** Throws `INVALID_COMMIT` for a commit that contradicts itself. */
export function mustMakeSense(commit: Commit): void {
  const { expectedVersion, facts, head, snapshot, once, text, origin, unlessDeleted, turn } = commit;
  const wrong =
    expectedVersion === 'open'
      ? head ||
        snapshot ||
        text ||
        origin ||
        unlessDeleted ||
        turn?.acquire ||
        turn?.release ||
        !once ||
        facts.length === 0
        ? 'an open append carries facts and `once`, and no head, snapshot, text, origin, acquire or release'
        : undefined
      : facts.length === 0 && !turn?.release
        ? 'a commit without facts can only release'
        : (facts.length > 0 || head) && head?.version !== expectedVersion + facts.length
          ? 'the head is not the one after these facts'
          : turn?.acquire && turn.release
            ? 'a lease is acquired or released, not both'
            : (text !== undefined || origin !== undefined || unlessDeleted) && expectedVersion !== 0
              ? 'a text, an origin or a look for a deletion is that of the first commit'
              : undefined;
  if (wrong) throw new StoreError('INVALID_COMMIT', `Invalid commit: ${wrong}`);
}

/**
 * The facts of a commit as a store keeps them. The writer of an open append does not know the end of the log, and its
 * clock may be slow: a fact with an earlier time than the fact before it gets that fact's time. `lastAt`: the `at` of
 * the last fact of the log, if there is one. Pure; a store calls it inside its transaction, after `admit`.
 */
export function factsInOrder(
  { expectedVersion, facts }: Pick<Commit, 'expectedVersion' | 'facts'>,
  lastAt: string | undefined,
): readonly Fact[] {
  if (expectedVersion !== 'open') return facts;
  let latest = lastAt ?? '';
  return facts.map((fact) => {
    if (fact.at >= latest) {
      latest = fact.at;
      return fact;
    }
    return { ...fact, at: latest };
  });
}
