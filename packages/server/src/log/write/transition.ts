import type { State } from '@batonjs/lifecycle';
import { failureCodeOf } from '@batonjs/lifecycle/internals';
import type { TaskState } from '@batonjs/protocol';
import type { Scope, StoredFact } from '@batonjs/store';
import type { LiveTask } from '../live-task.ts';

/** A task changed its state. */
export interface Transition {
  readonly type: 'transition';
  readonly taskId: string;
  readonly contextId: string;
  /** Whose task it is: the `scope` that `authenticate` returned. Undefined where callers are not authenticated. */
  readonly caller?: string;
  readonly tenant?: string;
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
  { scope, taskId, state }: Pick<LiveTask, 'scope' | 'taskId' | 'state'>,
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
    const transition = {
      type: 'transition' as const,
      taskId,
      contextId,
      ...ownerOf(scope, state),
      from,
      to,
      at: fact.at,
    };
    const code =
      to === 'TASK_STATE_FAILED' && fact.type === 'status-changed' ? failureCodeOf(fact.status) : undefined;
    report(code === undefined ? transition : { ...transition, code });
    from = to;
  }
}

/** The caller and the tenant of a scope. A scope that is too long for stores is a hash, and then messages name the caller. */
function ownerOf(scope: Scope, { taken, pending }: State): Pick<Transition, 'caller' | 'tenant'> {
  if (!scope.startsWith('[')) {
    const caller = (pending[0] ?? taken[0])?.caller?.scope;
    return typeof caller === 'string' ? { caller } : {};
  }
  if (latest?.scope !== scope) {
    const [, tenant = '', caller = '']: string[] = JSON.parse(scope);
    latest = { scope, owner: { ...(caller !== '' && { caller }), ...(tenant !== '' && { tenant }) } };
  }
  return latest.owner;
}

/** The next change is usually of the same caller. */
let latest: { readonly scope: Scope; readonly owner: Pick<Transition, 'caller' | 'tenant'> } | undefined;
