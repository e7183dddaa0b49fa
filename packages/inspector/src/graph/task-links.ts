import type { Message, Task } from '@batonjs/protocol';

/** Another task that a task names. */
export interface TaskLink {
  readonly kind: 'reference' | 'child' | 'parent';
  readonly taskId: string;
  /** The agent of the other task, as the task names it. */
  readonly agent?: string;
}

/**
 * The tasks that a task names: those that its messages refer to, and those that the metadata of its messages names as
 * children or parent. Spec: §3.4.3.
 */
export function linksOf(task: Task): TaskLink[] {
  const messages = [...(task.history ?? []), ...(task.status.message ? [task.status.message] : [])];
  const links = [
    ...messages.flatMap(({ referenceTaskIds = [] }) =>
      referenceTaskIds.map((taskId) => ({ kind: 'reference' as const, taskId })),
    ),
    ...[task.metadata, ...messages.map(({ metadata }: Message) => metadata)].flatMap(inMetadata),
  ];
  const unique = new Map(
    links.filter(({ taskId }) => taskId !== task.id).map((link) => [JSON.stringify(link), link]),
  );
  return [...unique.values()];
}

/**
 * Children are listed under `children`, alone under `child` or `remoteTask`, a parent under `parent` or `parentTaskId`:
 * at the top, or below the URI of an extension.
 */
function inMetadata(metadata: Readonly<Record<string, unknown>> | undefined): TaskLink[] {
  if (!metadata) return [];
  const below = Object.entries(metadata).flatMap(([name, value]) =>
    name.includes('/') ? [Object(value)] : [],
  );
  return [metadata, ...below].flatMap(({ children, child, remoteTask, parent, parentTaskId }) => [
    ...(Array.isArray(children) ? children.slice(0, 100) : []).flatMap(linkTo('child')),
    ...[child, remoteTask].flatMap(linkTo('child')),
    ...[parent, parentTaskId].flatMap(linkTo('parent')),
  ]);
}

const linkTo =
  (kind: TaskLink['kind']) =>
  (value: unknown): TaskLink[] => {
    if (typeof value === 'string') return [{ kind, taskId: value }];
    const { taskId, id, agent } = Object(value) as Readonly<Record<string, unknown>>;
    const named = taskId ?? id;
    if (typeof named !== 'string') return [];
    return [{ kind, taskId: named, ...(typeof agent === 'string' && { agent }) }];
  };
