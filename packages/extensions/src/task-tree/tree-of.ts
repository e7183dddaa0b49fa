import type { StreamResponse, Task, TaskState } from '@batonjs/protocol';
import { TASK_TREE } from '../uris.ts';

/** A task that another one started at another agent. */
export interface ChildTask {
  /** Names it within the task that started it. */
  readonly name: string;
  /** The name of its agent. */
  readonly agent: string;
  /** Undefined while it is not known whether the agent received the message. */
  readonly taskId?: string;
  /** As far as its parent knows it. */
  readonly state?: TaskState;
}

/** The neighbours of a task. */
export interface TaskTree {
  /** The task that started it, and its name there. What a caller says: do not trust it. */
  readonly parent?: { readonly taskId: string; readonly name: string };
  readonly children: readonly ChildTask[];
}

/** The tree in a task or in an event; undefined if there is none or it has another shape. */
export function treeOf(from: StreamResponse | Task): TaskTree | undefined {
  const { task, statusUpdate } = ('status' in from ? { task: from } : from) as {
    task?: Task;
    statusUpdate?: { metadata?: object };
  };
  const { parent, children } = Object(
    Object(task?.metadata ?? statusUpdate?.metadata)[TASK_TREE],
  ) as Readonly<Record<string, unknown>>;
  if (!Array.isArray(children) || !children.every(isChild)) return undefined;
  const { taskId, name } = Object(parent) as Readonly<Record<string, unknown>>;
  const isParent = typeof taskId === 'string' && typeof name === 'string';
  return { ...(isParent && { parent: { taskId, name } }), children };
}

function isChild(child: unknown): child is ChildTask {
  const { name, agent, taskId = '', state = '' } = Object(child) as Readonly<Record<string, unknown>>;
  return [name, agent, taskId, state].every((value) => typeof value === 'string');
}
