import type { Task, TaskState } from '@batonjs/protocol';
import type { TaskUpdate } from '@batonjs/server';
import type { Target } from '../agents/agents.ts';
import { reach } from '../agents/reach.ts';
import type { CallScope } from '../call-scope.ts';
import { type ChildRecord, childIn, derivedId } from './child-record.ts';

/** A child as its parent knows it, and writes it to its log. */
export class KnownChild {
  readonly name: string;
  readonly target: Target;
  record: ChildRecord;
  taskId: string | undefined;
  state: TaskState | undefined;
  /** Whether an earlier attempt or turn wrote it. */
  readonly isFromLog: boolean;
  readonly #scope: CallScope;

  constructor(scope: CallScope, name: string, target: Target) {
    const known = childIn(scope.turn.children, name);
    this.name = name;
    this.target = target;
    this.isFromLog = known !== undefined;
    this.record = known?.record ?? { at: target.at, startedAt: Date.now() };
    this.taskId = known?.taskId;
    this.state = known?.state;
    this.#scope = scope;
  }

  change(changes: Partial<ChildRecord>): void {
    this.record = { ...this.record, ...changes };
  }

  /** Writes the child as it is known now, in one commit with an update of the task if there is one. */
  save(update?: TaskUpdate): Promise<void> {
    const { name, taskId, state, record, target } = this;
    const agent = (target.client.card.name || 'Another agent').slice(0, 200);
    const child = { name, agent, ...(taskId && { taskId }), ...(state && { state }), record };
    return this.#scope.emit({ ...update, child } as TaskUpdate);
  }

  /** Reads the child from its agent. */
  read(): Promise<Task> {
    const { signal, limits } = this.#scope;
    const read = () => this.target.client.getTask({ id: this.taskId! }, { signal });
    return reach(read, { forMs: limits.unreachableMs, signal, repeatable: true });
  }

  /** An id that is derived from the task, the call and these texts. */
  idOf(...texts: readonly string[]): string {
    return derivedId(this.#scope.turn.taskId, this.name, ...texts);
  }
}
