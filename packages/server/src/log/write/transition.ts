import type { State } from '@batonjs/lifecycle';
import { failureCodeOf } from '@batonjs/lifecycle/internals';
import type { TaskState } from '@batonjs/protocol';
import type { StoredFact } from '@batonjs/store';

/** A task changed its state. */
export interface Transition {
  readonly taskId: string;
  readonly contextId: string;
  /** Undefined when the task was created. */
  readonly from: TaskState | undefined;
  readonly to: TaskState;
  /** The code with which the task failed, if it has one. */
  readonly code?: string;
  /** ISO 8601, UTC, milliseconds. */
  readonly at: string;
}

/** Reports every change of the task's state among facts that were committed after `before`. */
export function reportTransitions(
  before: State | undefined,
  taskId: string,
  facts: readonly StoredFact[],
  report: (transition: Transition) => void,
): void {
  let from = before?.task?.status.state;
  let contextId = before?.contextId ?? '';
  for (const { fact } of facts) {
    if (fact.type === 'message-received') contextId ||= fact.message.contextId ?? '';
    if (fact.type === 'task-created') contextId = fact.contextId;
    const to =
      fact.type === 'task-created'
        ? 'TASK_STATE_SUBMITTED'
        : fact.type === 'status-changed'
          ? fact.status.state
          : undefined;
    if (!to || to === from) continue;
    const transition = { taskId, contextId, from, to, at: fact.at };
    const code =
      to === 'TASK_STATE_FAILED' && fact.type === 'status-changed' ? failureCodeOf(fact.status) : undefined;
    report(code === undefined ? transition : { ...transition, code });
    from = to;
  }
}
