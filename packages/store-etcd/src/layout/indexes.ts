import type { RecordRow, TaskRow, WebhookRow } from '@batonjs/store/adapter';
import { isListedAlike, termsOf } from '@batonjs/store/rules';
import type { Write } from '../wire/messages.ts';
import { type Keys, timeIn, turnIn } from './keys.ts';

/** The columns by which tasks are found: a task stays where it is while these stay as they are. */
const columns = ['queue', 'holder', 'waitingSince', 'dueAt', 'leaseUntil', 'turnAt', 'endedAt'] as const;
type Columns = Pick<TaskRow, 'scope' | 'taskId' | (typeof columns)[number]>;

/** An index of tasks: folders whose keys are a time and the digest of a task. */
export interface Index {
  /** Undefined if the index does not have the task. */
  readonly at: (row: Columns) => number | undefined;
  readonly folder: (keys: Keys, row: Columns) => string;
  /** How times are written. Default `timeIn`. */
  readonly time?: (ms: number) => string;
  /** Each value is a `PlaceOf`. */
  readonly hasPlace?: boolean;
  /** Subscribers of the queue notice that a key is put. */
  readonly isWatched?: boolean;
}

export const waiting: Index = {
  at: ({ waitingSince }) => waitingSince,
  folder: (keys, { queue = '' }) => keys.waiting(queue),
  isWatched: true,
};
export const due: Index = { at: ({ dueAt }) => dueAt, folder: (keys, { queue = '' }) => keys.due(queue) };
export const leased: Index = {
  at: ({ leaseUntil }) => leaseUntil,
  folder: (keys, { queue = '' }) => keys.leased(queue),
  hasPlace: true,
};
export const turns: Index = {
  at: ({ turnAt }) => turnAt,
  folder: (keys, { queue = '', scope }) => keys.turnsOf(queue, scope),
  time: turnIn,
  hasPlace: true,
};
/** In no order. */
export const held: Index = {
  at: ({ holder }) => (holder === undefined ? undefined : 0),
  folder: (keys, { queue = '', holder = '' }) => keys.heldBy(queue, holder),
};
export const ended: Index = { at: ({ endedAt }) => endedAt, folder: (keys) => keys.ended };

const indexes = [waiting, due, leased, turns, held, ended];

/** The key of a task in an index. */
export function keyIn(
  { at, folder, time = timeIn }: Index,
  keys: Keys,
  task: string,
  row: Columns,
): string | undefined {
  const ms = at(row);
  return ms === undefined ? undefined : `${folder(keys, row)}${time(ms)}/${task}`;
}

/** What a key tells of a task without a look at its row. */
export interface PlaceOf {
  readonly scope: string;
  readonly context: string;
}

/** A key by which something is found. */
interface Place {
  readonly key: string;
  readonly value: string;
  /** The queue whose subscribers notice that the key is put. */
  readonly queue?: string | undefined;
}

/** The part of a key that says a state: a dash while the log is no task. */
export const stateIn = (state: string | undefined): string => state || '-';

/** The writes that move a task to where it is found. `task` is its digest. */
export function movesOfTask(
  keys: Keys,
  task: string,
  before: TaskRow | undefined,
  after: TaskRow | undefined,
  notified: ReadonlySet<string>,
): Write[] {
  const isAlike =
    columns.every((column) => before?.[column] === after?.[column]) &&
    isListedAlike(before?.head, after?.head);
  if (isAlike && notified.size === 0) return [];
  return moves(placesOf(keys, task, before), placesOf(keys, task, after), notified);
}

function placesOf(keys: Keys, task: string, row: TaskRow | undefined): Place[] {
  if (!row?.head) return [];
  const { scope, taskId, queue } = row;
  const { contextId, statusAt, state } = row.head;
  const listed = keys.place(statusAt, taskId);
  const folders = [
    keys.inScope(scope),
    keys.inContext(scope, contextId),
    ...termsOf(row.head).map((term) => keys.withTerm(scope, term)),
  ];
  const places: Place[] = folders.map((folder) => ({
    key: `${folder}${stateIn(state)}/${listed}`,
    value: task,
  }));
  const place = JSON.stringify({ scope, context: contextId } satisfies PlaceOf);
  for (const index of indexes) {
    const key = keyIn(index, keys, task, row);
    const value = index.hasPlace ? place : '';
    if (key !== undefined) places.push({ key, value, queue: index.isWatched ? queue : undefined });
  }
  return places;
}

/**
 * The writes that move the webhooks of a task to where they are found: by the earliest time in each queue, and by name
 * those that were given up.
 */
export const movesOfWebhooks = (
  keys: Keys,
  task: string,
  before: readonly WebhookRow[],
  after: readonly WebhookRow[],
  notified: ReadonlySet<string>,
): Write[] => moves(placesOfWebhooks(keys, task, before), placesOfWebhooks(keys, task, after), notified);

function placesOfWebhooks(keys: Keys, task: string, webhooks: readonly WebhookRow[]): Place[] {
  const earliest = new Map<string, number>();
  const dead = new Map<string, string>();
  for (const { scope, taskId, queue, readyAt, dead: reason } of webhooks) {
    if (readyAt !== undefined) earliest.set(queue, Math.min(readyAt, earliest.get(queue) ?? readyAt));
    if (reason !== undefined) dead.set(queue, JSON.stringify([scope, taskId]));
  }
  return [
    ...Array.from(earliest, ([queue, at]) => ({
      key: `${keys.deliveries(queue)}${timeIn(at)}/${task}`,
      value: '',
      queue,
    })),
    ...Array.from(dead, ([queue, value]) => ({ key: `${keys.dead(queue)}${task}`, value })),
  ];
}

/** The writes that move a record to where it is found. */
export const movesOfRecord = (
  keys: Keys,
  before: RecordRow | undefined,
  after: RecordRow | undefined,
): Write[] => moves(placesOfRecord(keys, before), placesOfRecord(keys, after), new Set());

function placesOfRecord(keys: Keys, row: RecordRow | undefined): Place[] {
  if (!row) return [];
  const { name, scope, expiresAt } = row;
  return [
    ...(scope === undefined ? [] : [{ key: `${keys.recordsOf(scope)}${name}`, value: '' }]),
    ...(expiresAt === undefined
      ? []
      : [{ key: `${keys.recordEnds}${timeIn(expiresAt)}/${name}`, value: '' }]),
  ];
}

/** The writes that move something. Places in the queues `notified` are put again: processes watch them. */
function moves(before: readonly Place[], after: readonly Place[], notified: ReadonlySet<string>): Write[] {
  const [was, is] = [new Set(before.map(({ key }) => key)), new Set(after.map(({ key }) => key))];
  return [
    ...before.filter(({ key }) => !is.has(key)).map(({ key }) => ({ delete: { key } })),
    ...after
      .filter(({ key, queue }) => !was.has(key) || (queue !== undefined && notified.has(queue)))
      .map(({ key, value }) => ({ put: { key, value } })),
  ];
}
