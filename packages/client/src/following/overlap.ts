import type { Artifact, StreamResponse, Task, TaskStatus } from '@batonjs/protocol';
import type { AgentEvent } from '../replies/agent-reply.ts';

/**
 * Tells the events that a look at the task already contains from those that came after it. The stream was opened before
 * the look, so its first events may be in both; chunks carry no number, so they are found by their content, at the end of
 * what the look shows.
 */
export class Overlap {
  readonly #task: Task;
  /** For each artifact, after how many of its parts the next chunk may continue. */
  readonly #places = new Map<string, readonly number[]>();

  constructor(task: Task) {
    this.#task = task;
  }

  /** Whether the look contains the event; `unsure` where its content allows both, and only another look can tell. */
  has(event: StreamResponse): boolean | 'unsure' {
    const { statusUpdate, artifactUpdate } = event as AgentEvent;
    if (statusUpdate) return isPast(statusUpdate.status, this.#task.status);
    if (!artifactUpdate) return false;
    const { artifact, append } = artifactUpdate;
    const parts = this.#task.artifacts?.find(({ artifactId }) => artifactId === artifact.artifactId)?.parts;
    return parts ? this.#hasChunk(artifact, parts, Boolean(append)) : false;
  }

  #hasChunk({ artifactId, parts: chunk }: Artifact, parts: Artifact['parts'], append: boolean) {
    const known = this.#places.get(artifactId);
    const places = append ? (known ?? parts.keys()) : [0];
    const texts = chunk.map((part) => JSON.stringify(part));
    const found = Array.from(places).filter((start) =>
      texts.every((text, index) => text === JSON.stringify(parts[start + index])),
    );
    if (found.length > 0 && append && known?.includes(parts.length)) return 'unsure';
    this.#places.set(
      artifactId,
      found.map((start) => start + chunk.length),
    );
    return found.length > 0;
  }
}

const isPast = (status: TaskStatus, seen: TaskStatus): boolean =>
  status.timestamp && seen.timestamp
    ? Date.parse(status.timestamp) <= Date.parse(seen.timestamp)
    : JSON.stringify(status) === JSON.stringify(seen);
