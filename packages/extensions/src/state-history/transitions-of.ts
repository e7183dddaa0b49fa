import type { Task, TaskState } from '@batonjs/protocol';
import { STATE_HISTORY } from '@batonjs/protocol/headers';

/** A change of a task's state. */
export interface StateTransition {
  /** Absent for the first one. */
  readonly from?: TaskState;
  readonly to: TaskState;
  /** When it happened: ISO 8601. */
  readonly at: string;
  /** Grows with every change, with gaps. */
  readonly sequence: number;
  /** The id of the message that came with it, which is in the task's history or status. */
  readonly messageId?: string;
}

/**
 * The changes of a task's state, oldest first, at most the newest 1,000. Undefined if the task does not show them: get
 * it with the extension active. Changes that cannot be read are left out.
 */
export function transitionsOf({ metadata }: Task): readonly StateTransition[] | undefined {
  const { transitions } = Object(metadata?.[STATE_HISTORY]) as Readonly<Record<string, unknown>>;
  return Array.isArray(transitions) ? transitions.flatMap(toTransition) : undefined;
}

function toTransition(value: unknown): StateTransition[] {
  const { from, to, at, sequence, messageId } = Object(value) as Readonly<Record<string, unknown>>;
  if (!isState(to) || typeof at !== 'string' || Number.isNaN(Date.parse(at)) || typeof sequence !== 'number')
    return [];
  return [
    { ...(isState(from) && { from }), to, at, sequence, ...(typeof messageId === 'string' && { messageId }) },
  ];
}

/** A state of another release is one as well: callers compare it with those that they know. */
const isState = (value: unknown): value is TaskState =>
  typeof value === 'string' && value.startsWith('TASK_STATE_');
