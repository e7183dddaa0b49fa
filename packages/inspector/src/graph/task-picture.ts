import type { Task } from '@batonjs/protocol';
import type { Inspected } from '../agents/inspected.ts';
import type { GraphEdge, GraphNode, TaskPicture } from '../api/graph.ts';
import { rowOf } from '../tasks/agent-tasks.ts';
import { readTask } from '../tasks/read-task.ts';
import type { TaskSource } from '../tasks/task-source.ts';
import { linksOf, type TaskLink } from './task-links.ts';

/** The most tasks in one picture. */
const most = 200;
/** How far links are followed out of the context. */
const depth = 4;

/** The tasks of a context, and those at any known agent that they name, as far as they can be read. */
export async function taskPicture(
  agent: Inspected,
  source: TaskSource,
  others: readonly Inspected[],
  { contextId, scope = 0 }: { readonly contextId: string; readonly scope?: number },
): Promise<TaskPicture> {
  const nodes = new Map<string, GraphNode>();
  const edges = new Map<string, GraphEdge>();
  const page = await source.list({ contextId, scope });
  const open = page.tasks.map(({ id }) => ({ agent, id, level: 0 }));
  let isCut = page.next !== undefined;
  for (let step = open.shift(); step; step = open.shift()) {
    const { agent: owner, id, level } = step;
    if (nodes.has(id)) continue;
    if (nodes.size === most) {
      isCut = true;
      break;
    }
    const task = await readTask(owner, id, owner === agent ? scope : 0);
    if (!task) continue;
    nodes.set(id, { ...rowOf(task), agent: owner.id });
    for (const link of linksOf(task)) {
      const edge = edgeOf(task, link);
      // A parent and its child may refer to each other besides: they belong together once.
      const pair = [edge.from, edge.to].sort().join(' ');
      if (edges.get(pair)?.kind !== 'child') edges.set(pair, edge);
      if (level < depth && !nodes.has(link.taskId)) {
        const found = await ownerOf(link, owner, others);
        if (found) open.push({ agent: found, id: link.taskId, level: level + 1 });
      }
    }
  }
  return {
    contextId,
    nodes: [...nodes.values()].sort((one, other) => (one.statusAt ?? '').localeCompare(other.statusAt ?? '')),
    edges: [...edges.values()].filter(({ from, to }) => nodes.has(from) && nodes.has(to)),
    isCut,
  };
}

/** An edge goes from the earlier task to the later one, and from the parent to the child. */
const edgeOf = ({ id }: Task, { kind, taskId }: TaskLink): GraphEdge =>
  kind === 'child'
    ? { from: id, to: taskId, kind }
    : { from: taskId, to: id, kind: kind === 'parent' ? 'child' : 'reference' };

/** The agent that knows the other task: the named one, else the same one, else any. */
async function ownerOf(
  { agent, taskId }: TaskLink,
  owner: Inspected,
  others: readonly Inspected[],
): Promise<Inspected | undefined> {
  const named = others.filter(
    ({ id, name, options }) => id === agent || name === agent || options.name === agent,
  );
  for (const candidate of agent === undefined ? [owner, ...others.filter((other) => other !== owner)] : named)
    if (await readTask(candidate, taskId).catch(() => undefined)) return candidate;
  return undefined;
}
