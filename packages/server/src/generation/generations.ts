import { SharedJson } from '@batonjs/bindings';
import { changesGeneration, type State } from '@batonjs/lifecycle';
import type { StreamResponse } from '@batonjs/protocol';
import type { Scope, StoredFact, TaskStore } from '@batonjs/store';
import type { StreamEvent } from '../log/stream-event.ts';

const batch = 512;

/** The events of streams with their generation, by the events without: all followers share them. */
const counted = new WeakMap<SharedJson, SharedJson>();

/** The event of a fact after which the task is at this generation. A message is no event of a task. */
export function withGeneration(event: StreamEvent, generation: number): StreamEvent {
  const plain = event.event;
  let shared = counted.get(plain);
  if (!shared) {
    shared = new SharedJson(generationIn(plain.value as StreamResponse, generation));
    counted.set(plain, shared);
  }
  return { ...event, event: shared };
}

/** The event as JSON, with its generation. */
export function generationIn(event: StreamResponse, generation: number): StreamResponse {
  const value = String(generation);
  if ('statusUpdate' in event) return { statusUpdate: { ...event.statusUpdate, generation: value } };
  if ('artifactUpdate' in event) return { artifactUpdate: { ...event.artifactUpdate, generation: value } };
  return event;
}

/** Adds the generation to the events of a stream. Called with all facts after the one at `generation`, in order. */
export class GenerationCounter {
  #generation: number;

  constructor(generation: number) {
    this.#generation = generation;
  }

  /** The event of the next fact with its generation; undefined for a fact without an event. */
  next({ fact }: StoredFact, event: StreamEvent | undefined): StreamEvent | undefined {
    if (changesGeneration(fact)) this.#generation += 1;
    return event && withGeneration(event, this.#generation);
  }
}

/** The generation of a task after the fact at `version`, from that of a later state. */
export async function generationAt(
  store: Pick<TaskStore, 'readFacts'>,
  {
    scope,
    taskId,
    state,
  }: {
    readonly scope: Scope;
    readonly taskId: string;
    readonly state: Pick<State, 'generation' | 'version'>;
  },
  version: number,
): Promise<number> {
  // The state may go on meanwhile: facts after it do not count.
  const { generation, version: end } = state;
  let later = 0;
  for (let at = version; at < end; ) {
    const facts = await store.readFacts(scope, taskId, at, batch);
    const last = facts.at(-1);
    if (!last) break;
    later += facts.filter((stored) => stored.version <= end && changesGeneration(stored.fact)).length;
    at = last.version;
  }
  return generation - later;
}
