import type { Artifact, StreamResponse, Task, TaskStatus } from '@batonjs/protocol';
import type { AgentEvent } from '../replies/agent-reply.ts';

/**
 * Finds out which events of a stream a task that was read meanwhile already contains. The stream was opened before the
 * task was read, so both may contain the same events. Chunks of artifacts have no number; they are recognised by their
 * content among the parts that the task has.
 */
export class Overlap {
  readonly #task: Task;
  /** By artifact id: the indexes of its parts at which the next chunk may start. */
  readonly #starts = new Map<string, readonly number[]>();

  constructor(task: Task) {
    this.#task = task;
  }

  /** Whether the task contains the event; `unsure` if its content allows both, and the task must be read again. */
  contains(event: StreamResponse): boolean | 'unsure' {
    const { statusUpdate, artifactUpdate } = event as AgentEvent;
    if (statusUpdate) return isNotAfter(statusUpdate.status, this.#task.status);
    if (!artifactUpdate) return false;
    const { artifact, append } = artifactUpdate;
    const parts = this.#task.artifacts?.find(({ artifactId }) => artifactId === artifact.artifactId)?.parts;
    return parts ? this.#containsChunk(artifact, parts, Boolean(append)) : false;
  }

  #containsChunk({ artifactId, parts: chunk }: Artifact, parts: Artifact['parts'], append: boolean) {
    const known = this.#starts.get(artifactId);
    const starts = append ? (known ?? parts.keys()) : [0];
    const texts = chunk.map((part) => JSON.stringify(part));
    const found = Array.from(starts).filter((start) =>
      texts.every((text, index) => text === JSON.stringify(parts[start + index])),
    );
    if (found.length > 0 && append && known?.includes(parts.length)) return 'unsure';
    this.#starts.set(
      artifactId,
      found.map((start) => start + chunk.length),
    );
    return found.length > 0;
  }
}

/** By timestamp; without timestamps, only an equal status counts. */
const isNotAfter = (status: TaskStatus, seen: TaskStatus): boolean =>
  status.timestamp && seen.timestamp
    ? Date.parse(status.timestamp) <= Date.parse(seen.timestamp)
    : JSON.stringify(status) === JSON.stringify(seen);
