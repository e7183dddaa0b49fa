import { viewTask } from '@batonjs/lifecycle';
import type { Message, Task } from '@batonjs/protocol';
import { loadTask, type Scope, type TaskStore } from '@batonjs/store';
import type { ReferencedArtifact, References } from '../../agent/agent.ts';
import { parentIn } from '../../agent/message-content.ts';

const most = 100;

/**
 * The tasks and artifacts that a message refers to and that exist in the scope: at most the first 100, and the first
 * tasks that weigh `bytes` together. The others count as missing. Spec: §3.4.3.
 */
export async function referencesOf(
  store: Pick<TaskStore, 'load'>,
  scope: Scope,
  message: Message,
  bytes: number,
): Promise<References> {
  const pointers = pointersIn(message);
  const named = [...(message.referenceTaskIds ?? []), ...pointers.flatMap(({ taskId }) => taskId ?? [])];
  const ids = [...new Set(named)].slice(0, most);
  const tasks: Task[] = [];
  let left = bytes;
  const load = async (id: string) => {
    const state = await loadTask(store, scope, id);
    return { state, weight: state?.weight ?? 0 };
  };
  for await (const { state, weight } of loadEach(ids, load)) {
    left -= weight;
    if (left < 0) break;
    if (state?.task) tasks.push(viewTask(state));
  }
  const found = new Set(tasks.map(({ id }) => id));
  // The task of another agent that started this one: it is named to show the tree, not for its content.
  const parent = parentIn(message)?.taskId;
  const resolved = pointers.map((pointer) => ({ pointer, at: findArtifact(tasks, pointer) }));
  return {
    tasks,
    artifacts: resolved.flatMap(({ at }) => at ?? []),
    missing: [
      ...ids.filter((id) => !found.has(id) && id !== parent),
      ...resolved.flatMap(({ pointer, at }) => (at ? [] : pointer.artifactId)),
    ],
  };
}

/** Names an artifact; without a task, one of the tasks that the message refers to has it. */
interface Pointer {
  readonly taskId?: string;
  readonly artifactId: string;
}

/** The artifacts that parts name in their metadata, one in it or several in its `references`. */
function pointersIn({ parts }: Message): Pointer[] {
  const named = parts.flatMap(({ metadata = {} }) => [
    metadata,
    ...(Array.isArray(metadata.references) ? metadata.references : []),
  ]);
  return named.flatMap(toPointer).slice(0, most);
}

/** Clients may write any value there: one that names no artifact is ignored. */
function toPointer(named: unknown): Pointer | [] {
  const { taskId, artifactId } = Object(named) as Readonly<Record<string, unknown>>;
  if (typeof artifactId !== 'string' || artifactId === '') return [];
  return { artifactId, ...(typeof taskId === 'string' && taskId !== '' && { taskId }) };
}

function findArtifact(
  tasks: readonly Task[],
  { taskId, artifactId }: Pointer,
): ReferencedArtifact | undefined {
  for (const task of tasks) {
    if (taskId !== undefined && taskId !== task.id) continue;
    const artifact = task.artifacts?.find((each) => each.artifactId === artifactId);
    if (artifact) return { taskId: task.id, artifact };
  }
  return undefined;
}

/** How many small items are loaded at once. */
const atOnce = 4;
/** The most bytes of an item that is loaded together with others. */
const light = 256 * 1024;

/**
 * Loads items in order, one by one, or a few at once while they are small. Stop the iteration when enough was loaded:
 * at most a few more than were taken are in memory. `weight` is in bytes.
 */
export async function* loadEach<Item, Loaded extends { readonly weight: number }>(
  items: readonly Item[],
  load: (item: Item) => Promise<Loaded>,
): AsyncGenerator<Loaded, void> {
  let together = 1;
  for (let next = 0; next < items.length; ) {
    const loaded = await Promise.all(items.slice(next, next + together).map(load));
    next += loaded.length;
    together = loaded.every(({ weight }) => weight <= light) ? atOnce : 1;
    yield* loaded;
  }
}
