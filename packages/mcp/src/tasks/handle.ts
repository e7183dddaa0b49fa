import type { Task } from '@batonjs/protocol';

/** The id of a task, as a client of MCP has it, and what it says about its task. */
export interface Handle {
  /** The id at the agent. */
  readonly id: string;
  /** Milliseconds since 1970. Undefined if the handle does not say it. */
  readonly createdAt: number | undefined;
}

const timeOrdered = /^([\da-f]{8})-([\da-f]{4})-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/i;
const dated = /^(.+)~([\da-z]{8,9})$/;

/** The time in a UUID of version 7. */
function timeIn(id: string): number | undefined {
  const [, high, low] = timeOrdered.exec(id) ?? [];
  return high && low ? Number.parseInt(high + low, 16) : undefined;
}

/**
 * The handle of a new task. It is the id of the task if that has a time in it, as ids of Baton do; else the time of the
 * task's first status follows it. A2A does not tell when a task began, and every process has to say the same.
 */
export function handleOf({ id, status }: Pick<Task, 'id' | 'status'>): string {
  if (timeIn(id) !== undefined) return id;
  const time = Date.parse(status.timestamp ?? '');
  return `${id}~${(Number.isNaN(time) ? Date.now() : time).toString(36)}`;
}

/** Reads a handle. The id of a task is one as well. */
export function readHandle(handle: string): Handle {
  const [, id, time] = dated.exec(handle) ?? [];
  if (id !== undefined && time !== undefined) return { id, createdAt: Number.parseInt(time, 36) };
  return { id: handle, createdAt: timeIn(handle) };
}

/** When a task began and changed last. It began with its status where the handle does not say it. */
export function timesOf(
  handle: string,
  { status }: Pick<Task, 'status'>,
): { createdAt: number; lastUpdatedAt: number } {
  const updated = Date.parse(status.timestamp ?? '') || 0;
  const createdAt = readHandle(handle).createdAt ?? updated;
  return { createdAt, lastUpdatedAt: Math.max(updated, createdAt) };
}
