import { SharedJson } from '@batonjs/bindings';
import { changesGeneration } from '@batonjs/lifecycle';
import type { StreamResponse } from '@batonjs/protocol';
import type { StoredFact } from '@batonjs/store';
import type { StreamEvent } from '../stream-event.ts';
import { generationIn } from './generation-at.ts';

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
