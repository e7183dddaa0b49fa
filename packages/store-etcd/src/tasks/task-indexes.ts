import type { Keys } from '../layout/keys.ts';
import { timeIn } from '../layout/order.ts';
import type { RequestOp } from '../wire/messages.ts';
import { isSameTurn, isWaiting, type TaskRow } from './task-row.ts';

/** The part of a key that says a state: a dash while the log is no task. */
export const stateIn = (state: string | undefined): string => state ?? '-';

/** The keys by which a task is found in a queue, and by its holder. */
function turnKeys(keys: Keys, task: string, { row, since = 0 }: TaskRow): string[] {
  const { queue, holder, leaseUntil = 0, head } = row;
  const found = holder === undefined ? [] : [`${keys.heldBy(holder)}${task}`];
  if (queue === undefined || head.closed) return found;
  if (holder !== undefined) found.push(`${keys.later(queue, 'held')}${timeIn(leaseUntil)}/${task}`);
  else if (isWaiting(row)) found.push(`${keys.wanted(queue)}${timeIn(since)}/${task}`);
  else if (head.dueAt !== undefined)
    found.push(`${keys.later(queue, 'due')}${timeIn(Date.parse(head.dueAt))}/${task}`);
  return found;
}

/** The keys by which a task is listed and pruned. */
function listKeys(keys: Keys, task: string, { scope, taskId, row: { head } }: TaskRow): string[] {
  const place = keys.place(head.statusAt, taskId);
  const found = [undefined, head.contextId].map(
    (contextId) => `${keys.listed(scope, contextId, stateIn(head.state))}${place}`,
  );
  if (head.closed) found.push(`${keys.closed}${timeIn(Date.parse(head.statusAt))}/${task}`);
  return found;
}

const isListedAlike = ({ row: { head: a } }: TaskRow, { row: { head: b } }: TaskRow): boolean =>
  a.statusAt === b.statusAt && a.state === b.state && a.contextId === b.contextId && a.closed === b.closed;

/** The writes that move a task in the indexes from where it was to where it is. */
export function moves(
  keys: Keys,
  task: string,
  before: TaskRow | undefined,
  after: TaskRow | undefined,
): RequestOp[] {
  const isNew = before === undefined || after === undefined;
  const find = (row: TaskRow | undefined): string[] => {
    if (!row) return [];
    const found: string[] = [];
    if (isNew || !isListedAlike(before, after)) found.push(...listKeys(keys, task, row));
    if (isNew || !isSameTurn(before, after)) found.push(...turnKeys(keys, task, row));
    if (isNew) found.push(`${keys.named(row.taskId)}${task}`);
    return found;
  };
  const [was, is] = [find(before), find(after)];
  return [
    ...was.filter((key) => !is.includes(key)).map((key) => ({ delete: { key } })),
    ...is.filter((key) => !was.includes(key)).map((key) => ({ put: { key, value: task } })),
  ];
}
