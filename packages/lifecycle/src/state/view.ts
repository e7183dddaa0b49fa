import type {
  Artifact,
  Message,
  StreamResponse,
  Task,
  TaskArtifactUpdateEvent,
  TaskStatusUpdateEvent,
  TimelineEntry,
} from '@batonjs/protocol';
import type { Fact, Metadata } from '../facts/facts.ts';
import { isSeen, type UnseenType } from '../facts/traits.ts';
import { toArray } from '../values/list.ts';
import type { ArtifactRecord, State } from './state.ts';

/** How much of a task a reader wants. */
export interface TaskView {
  /** At most so many of the most recent messages; 0 leaves `history` out; unset means all. Spec: §3.2.4. */
  readonly historyLength?: number;
  /** `false` leaves `artifacts` out, `true` shows it even if it is empty; unset means if there are any. Spec: §3.1.4. */
  readonly artifacts?: boolean;
  /** Whether `history` ends in the message of the current status. The specification leaves it open; off by default. */
  readonly currentStatusInHistory?: boolean;
  /** The `metadata` of the task, made of its state. */
  readonly metadata?: ((state: State) => Metadata) | undefined;
  /** Whether the task shows its generation. Default false. */
  readonly generation?: boolean;
  /** The timeline of the task, in this state. Default: it shows none. */
  readonly timeline?: Timeline | undefined;
}

/** The task as clients see it. It shares its content with the state: do not change it. Throws `TypeError` if the log is not a task. */
export function viewTask(state: State, view: TaskView = {}): Task {
  const { task, contextId } = state;
  if (!task) throw new TypeError('The log is not a task');
  const history = historyOf(state, view);
  const { artifacts = task.artifacts.length > 0, timeline } = view;
  const artifactOf = (record: ArtifactRecord): Artifact => ({
    ...viewArtifact(record),
    ...timeline?.spanOf(record.about.artifactId, state.closed),
  });
  return {
    id: task.id,
    contextId,
    status: task.status,
    ...(artifacts && { artifacts: task.artifacts.map(timeline ? artifactOf : viewArtifact) }),
    ...(history.length > 0 && { history }),
    ...(view.metadata && { metadata: view.metadata(state) }),
    ...(view.generation && { generation: String(generationOf(state)) }),
    ...(timeline?.entries.length && { timeline: [...timeline.entries] }),
  };
}

/**
 * The messages of a task, oldest first, each once: those of clients and those of the agent's statuses. Only this function
 * decides whether the message of the current status is among them. A `messageId` that the agent used again keeps its first
 * position. Spec: §3.2.4.
 */
export function historyOf(state: State, view: TaskView = {}): Message[] {
  const { historyLength = Number.POSITIVE_INFINITY, currentStatusInHistory = false } = view;
  if (historyLength <= 0) return [];
  const { items, length } = state.conversation.messages;
  const hidden = currentStatusInHistory ? -1 : state.statusMessageAt;
  const start = Math.max(0, length - historyLength - (hidden === -1 ? 0 : 1));
  const shown = items.slice(start, length).filter((_, index) => start + index !== hidden);
  return shown.length > historyLength ? shown.slice(-historyLength) : shown;
}

export const viewArtifact = ({ about, parts }: ArtifactRecord): Artifact => ({
  ...about,
  parts: toArray(parts),
});

/**
 * The event of a fact for followers of the task; undefined if they do not see it. It shares its content with the fact. `task-created` changes what clients see, yet is no event: a stream starts with the task. Spec: §3.2.3.
 */
export function toStreamResponse(
  task: { readonly id: string; readonly contextId: string },
  fact: Fact,
): StreamResponse | undefined {
  const { id: taskId, contextId } = task;
  switch (fact.type) {
    case 'status-changed': {
      const { status, metadata } = fact;
      const statusUpdate: TaskStatusUpdateEvent = { taskId, contextId, status };
      if (metadata) statusUpdate.metadata = metadata;
      return { statusUpdate };
    }
    case 'artifact-updated': {
      const { artifact, append, lastChunk, metadata } = fact;
      const artifactUpdate: TaskArtifactUpdateEvent = { taskId, contextId, artifact };
      if (append) artifactUpdate.append = append;
      if (lastChunk) artifactUpdate.lastChunk = lastChunk;
      if (metadata) artifactUpdate.metadata = metadata;
      return { artifactUpdate };
    }
    case 'answered':
      return { message: fact.message };
  }
  fact satisfies { type: UnseenType | 'task-created' };
  return undefined;
}

/** Whether a fact after the creation of a task adds 1 to its generation. Spec: §3.2.7 of A2A 1.1. */
export const changesGeneration = (fact: Fact): boolean => fact.type === 'message-received' || isSeen(fact);

/** The generation of a task: what clients saw of it and sent to it. The first message counts with the task that it makes. */
export function generationOf({ generation, conversation: { messages } }: State): number {
  const sent = messages.items.slice(0, messages.length).filter(({ role }) => role !== 'ROLE_AGENT');
  return generation + sent.length - 1;
}

/** The places of an artifact in the timeline. */
interface Span {
  readonly start: number;
  readonly last: number;
  /** Whether its last update was said to be the last one. */
  readonly isWhole: boolean;
}

/**
 * The timeline of a task, folded from the facts of its log in their order. Entries carry the generation after them. The creation is no entry of its own: it counts with the first message. Spec: §3.2.8 of A2A 1.1.
 */
export class Timeline {
  /** Oldest first: the newest `length`. */
  readonly entries: TimelineEntry[] = [];
  generation = 0;
  readonly #messageIds = new Set<string>();
  readonly #spans = new Map<string, Span>();
  readonly #length: number;

  constructor(length: number) {
    this.#length = length;
  }

  add(fact: Fact): void {
    if (fact.type === 'message-received') {
      // As in the state: two processes may have appended the same message.
      if (this.#messageIds.has(fact.message.messageId)) return;
      this.#messageIds.add(fact.message.messageId);
      this.generation += 1;
      this.#enter({ message: fact.message, generation: String(this.generation) });
    } else if (fact.type === 'status-changed') {
      if (fact.status.message) this.#messageIds.add(fact.status.message.messageId);
      this.generation += 1;
      this.#enter({ status: fact.status, generation: String(this.generation) });
    } else if (fact.type === 'artifact-updated') {
      const last = ++this.generation;
      const { artifact, append, lastChunk } = fact;
      const known = append ? this.#spans.get(artifact.artifactId) : undefined;
      this.#spans.set(artifact.artifactId, { start: known?.start ?? last, last, isWhole: lastChunk });
    }
  }

  /** Where an artifact began and ended. It has no end while more of it may come: until its last chunk, or the end of the task. */
  spanOf(artifactId: string, isOver: boolean): Pick<Artifact, 'startGeneration' | 'endGeneration'> {
    const span = this.#spans.get(artifactId);
    if (!span) return {};
    return {
      startGeneration: String(span.start),
      ...((span.isWhole || isOver) && { endGeneration: String(span.last) }),
    };
  }

  #enter(entry: TimelineEntry): void {
    this.entries.push(entry);
    if (this.entries.length > this.#length) this.entries.shift();
  }
}
