import type { Artifact, TimelineEntry } from '@batonjs/protocol';
import type { Fact } from '../facts/facts.ts';
import { isSeen } from '../facts/traits.ts';
import type { State } from './state.ts';

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
