import { stateOf, type TaskRow, type WebhookRow } from '@batonjs/store';
import type { RequestOp } from '../wire/messages.ts';
import type { Keys } from './keys.ts';
import { timeIn, turnIn } from './order.ts';

/** A key by which something is found. */
export interface Place {
  readonly key: string;
  readonly value: string;
  /** The queue whose subscribers notice that the key is put. */
  readonly queue?: string;
}

/** The part of a key that says a state: a dash while the log is no task. */
export const stateIn = (state: string | undefined): string => state || '-';

/** What a place tells of a task without a look at its row. */
export interface PlaceOf {
  readonly scope: string;
  readonly context: string;
}

/** Where a task is found; `task` is its digest. */
export function placesOf(keys: Keys, task: string, row: TaskRow | undefined): Place[] {
  if (!row?.head) return [];
  const { scope, taskId, head, queue = '', holder, waitingSince, dueAt, leaseUntil, turnAt, endedAt } = row;
  const { contextId, statusAt } = head;
  const place = JSON.stringify({ scope, context: contextId } satisfies PlaceOf);
  const listed = keys.place(statusAt, taskId);
  const places: Place[] = [undefined, contextId].map((context) => ({
    key: `${keys.listed(scope, context, stateIn(stateOf(row)))}${listed}`,
    value: task,
  }));
  const add = (key: string, value: string = task) => places.push({ key, value });
  if (waitingSince !== undefined)
    places.push({ key: `${keys.waiting(queue)}${timeIn(waitingSince)}/${task}`, value: task, queue });
  if (dueAt !== undefined) add(`${keys.due(queue)}${timeIn(dueAt)}/${task}`);
  if (leaseUntil !== undefined) add(`${keys.leased(queue)}${timeIn(leaseUntil)}/${task}`, place);
  if (holder !== undefined) add(`${keys.heldBy(holder)}${task}`);
  if (turnAt !== undefined) add(`${keys.turnsOf(queue, scope)}${turnIn(turnAt)}/${task}`, place);
  if (endedAt !== undefined) add(`${keys.ended}${timeIn(endedAt)}/${task}`);
  return places;
}

/** Whether both rows of a task have the same places. */
export const isPlacedAlike = (a: TaskRow, b: TaskRow): boolean =>
  a.head?.statusAt === b.head?.statusAt &&
  a.head?.state === b.head?.state &&
  a.head?.contextId === b.head?.contextId &&
  a.queue === b.queue &&
  a.holder === b.holder &&
  a.waitingSince === b.waitingSince &&
  a.dueAt === b.dueAt &&
  a.leaseUntil === b.leaseUntil &&
  a.turnAt === b.turnAt &&
  a.endedAt === b.endedAt;

/** Where the webhooks of a task are found: by the earliest time of each queue, and by name. */
export function placesOfWebhooks(keys: Keys, task: string, webhooks: readonly WebhookRow[]): Place[] {
  const earliest = new Map<string, number>();
  const dead = new Map<string, string>();
  for (const { scope, taskId, queue, readyAt, dead: reason } of webhooks) {
    if (readyAt !== undefined)
      earliest.set(queue, Math.min(readyAt, earliest.get(queue) ?? Number.POSITIVE_INFINITY));
    if (reason !== undefined) dead.set(queue, JSON.stringify([scope, taskId]));
  }
  return [
    ...Array.from(earliest, ([queue, at]) => ({
      key: `${keys.deliveries(queue)}${timeIn(at)}/${task}`,
      value: task,
      queue,
    })),
    ...Array.from(dead, ([queue, value]) => ({ key: `${keys.dead(queue)}${task}`, value })),
  ];
}

/** The writes that move something. Places in the queues `notified` are put again: processes watch them. */
export function moves(
  before: readonly Place[],
  after: readonly Place[],
  notified: ReadonlySet<string>,
): RequestOp[] {
  const [was, is] = [new Set(before.map(({ key }) => key)), new Set(after.map(({ key }) => key))];
  return [
    ...before.filter(({ key }) => !is.has(key)).map(({ key }) => ({ delete: { key } })),
    ...after
      .filter(({ key, queue }) => !was.has(key) || (queue !== undefined && notified.has(queue)))
      .map(({ key, value }) => ({ put: { key, value } })),
  ];
}
