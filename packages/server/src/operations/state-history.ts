import type { TaskState } from '@batonjs/protocol';
import type { Scope, StoredFact, TaskStore } from '@batonjs/store';

/** A change of a task's state. */
export interface StateTransition {
  /** Absent for the first one. */
  readonly from?: TaskState;
  readonly to: TaskState;
  /** ISO 8601, UTC, milliseconds. */
  readonly at: string;
  /** The position of the change in the task's log: grows with every change, with gaps. */
  readonly sequence: number;
  /** The id of the message that came with it, which is in the history or in the status. */
  readonly messageId?: string;
}

/** The metadata of a task under the URI of the extension. */
export interface StateHistory {
  /** Oldest first. */
  readonly transitions: readonly StateTransition[];
  /** How many older ones were left out. */
  readonly omitted?: number;
}

/** How many changes one reply shows: the newest. */
const mostShown = 1_000;

/** How many facts are read at once. */
const batch = 500;

/**
 * Reads the changes of a task's state among the first `version` facts of its log. A state that is repeated with another
 * message is no change. Nothing is kept for it elsewhere: the log is read from its beginning.
 */
export async function readStateHistory(
  store: TaskStore,
  scope: Scope,
  taskId: string,
  version: number,
): Promise<StateHistory> {
  const transitions: StateTransition[] = [];
  let from: TaskState | undefined;
  for (let after = 0; after < version; ) {
    const facts = await store.readFacts(scope, taskId, after, Math.min(batch, version - after));
    for (const stored of facts) {
      const transition = transitionOf(stored, from);
      if (!transition) continue;
      transitions.push(transition);
      from = transition.to;
    }
    // The log was deleted meanwhile.
    if (facts.length === 0) break;
    after += facts.length;
  }
  const omitted = Math.max(0, transitions.length - mostShown);
  return { transitions: transitions.slice(omitted), ...(omitted > 0 && { omitted }) };
}

function transitionOf(
  { version, fact }: StoredFact,
  from: TaskState | undefined,
): StateTransition | undefined {
  if (fact.type === 'task-created') return { to: 'TASK_STATE_SUBMITTED', at: fact.at, sequence: version };
  if (fact.type !== 'status-changed' || fact.status.state === from) return undefined;
  const { state: to, message } = fact.status;
  return {
    ...(from && { from }),
    to,
    at: fact.at,
    sequence: version,
    ...(message && { messageId: message.messageId }),
  };
}
