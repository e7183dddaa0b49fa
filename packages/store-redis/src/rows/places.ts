import { StoreError } from '@batonjs/store';
import type { RecordRow, TaskRow, WebhookRow } from '@batonjs/store/adapter';
import { contextOf, isAsking, isListedAlike, isPostponed, stateOf, termsOf } from '@batonjs/store/rules';

/** Where a row is found: a sorted set, and its score there; undefined if it is not in that set. */
interface Place<Row> {
  readonly key: (row: Row) => string;
  readonly score: (row: Row) => number | undefined;
}

const statusTime = ({ head }: TaskRow) => head && timeOf(head.statusAt, 'statusAt');

const lists: readonly Place<TaskRow>[] = [
  { key: (row) => `list:${row.scope}\0${stateOf(row)}`, score: statusTime },
  { key: (row) => `context:${row.scope}\0${contextOf(row)}\0${stateOf(row)}`, score: statusTime },
];

const listOf = (term: string): Place<TaskRow> => ({
  key: (row) => `term:${row.scope}\0${term}\0${stateOf(row)}`,
  score: (row) => (termsOf(row.head).includes(term) ? statusTime(row) : undefined),
});

const inQueues: readonly Place<TaskRow>[] = [
  { key: ({ queue }) => `waiting:${queue}`, score: ({ waitingSince }) => waitingSince },
  { key: ({ queue }) => `due:${queue}`, score: ({ dueAt }) => dueAt },
  { key: ({ queue }) => `left:${queue}`, score: ({ leaseUntil }) => leaseUntil },
  { key: ({ queue, scope }) => `turns:${queue}\0${scope}`, score: ({ turnAt }) => turnAt },
  {
    key: (row) => `asked:${row.queue}\0${stateOf(row)}`,
    score: (row) => (isAsking(row) ? statusTime(row) : undefined),
  },
  { key: ({ queue }) => `later:${queue}`, score: (row) => (isPostponed(row) ? row.dueAt : undefined) },
  { key: () => 'ended', score: ({ endedAt }) => endedAt },
  { key: ({ holder }) => `held:${holder}`, score: ({ holder }) => (holder === undefined ? undefined : 0) },
];

const ofWebhooks: readonly Place<WebhookRow>[] = [
  { key: ({ queue }) => `deliver:${queue}`, score: ({ readyAt }) => readyAt },
  { key: ({ queue }) => `dead:${queue}`, score: ({ dead }) => (dead === undefined ? undefined : 0) },
];

const ofRecords: readonly Place<RecordRow>[] = [
  { key: () => 'records', score: () => 0 },
  { key: ({ scope }) => `records-of:${scope}`, score: ({ scope }) => (scope === undefined ? undefined : 0) },
  { key: () => 'record-ends', score: ({ expiresAt }) => expiresAt },
];

/** Where a task id leaves lists, and where it enters them; see `moves`. Throws `INVALID_COMMIT` for a time that cannot be read. */
export function movesInLists(before: TaskRow | undefined, after: TaskRow | undefined): string[] {
  if (after?.head?.dueAt !== undefined) timeOf(after.head.dueAt, 'dueAt');
  if (isListedAlike(before?.head, after?.head)) return [];
  const terms = new Set([...termsOf(before?.head), ...termsOf(after?.head)]);
  return moves([...lists, ...Array.from(terms, listOf)], before, after);
}

/** Where a task leaves queues, and where it enters them. */
export const movesInQueues = (before: TaskRow | undefined, after: TaskRow | undefined): string[] =>
  moves(inQueues, before, after);

/** Where a webhook leaves queues, and where it enters them. */
export const movesOfWebhook = (before: WebhookRow | undefined, after: WebhookRow | undefined): string[] =>
  moves(ofWebhooks, before, after);

/** Where a record leaves lists, and where it enters them. */
export const movesOfRecord = (before: RecordRow | undefined, after: RecordRow | undefined): string[] =>
  moves(ofRecords, before, after);

/** Pairs of a sorted set and the new score in it; nothing stands for leaving it. */
function moves<Row>(
  places: readonly Place<Row>[],
  before: Row | undefined,
  after: Row | undefined,
): string[] {
  const pairs: string[] = [];
  for (const { key, score } of places) {
    const [from, to] = [before && score(before), after && score(after)];
    const old = before && from !== undefined ? key(before) : undefined;
    const now = after && to !== undefined ? key(after) : undefined;
    if (old !== undefined && old !== now) pairs.push(old, '');
    if (now !== undefined && (old !== now || from !== to)) pairs.push(now, String(to));
  }
  return pairs;
}

/** Redis does not undo a script that fails halfway, so values that it cannot read must not reach one. */
function timeOf(text: string, what: string): number {
  const time = Date.parse(text);
  if (Number.isNaN(time)) throw new StoreError('INVALID_COMMIT', `${what} is no time: ${text}`);
  return time;
}
