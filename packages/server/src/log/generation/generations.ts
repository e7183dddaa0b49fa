import { SharedJson } from '@batonjs/bindings';
import { changesGeneration, generationOf } from '@batonjs/lifecycle';
import type { StreamResponse } from '@batonjs/protocol';
import type { Scope, StoredFact } from '@batonjs/store';
import { waitForFact } from '../cursor.ts';
import type { LiveTasks } from '../live-tasks.ts';
import type { StreamEvent } from '../recent-facts.ts';
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

/** The event of the next fact with its generation; undefined for a fact without an event. */
export type GenerationCounter = (
  stored: StoredFact,
  event: StreamEvent | undefined,
) => StreamEvent | undefined;

/** Adds the generation to the events of a stream. Called with all facts after the one at `generation`, in order. */
export function generationCounter(generation: number): GenerationCounter {
  let known = generation;
  return ({ fact }, event) => {
    if (changesGeneration(fact)) known += 1;
    return event && withGeneration(event, known);
  };
}

interface Waiting {
  readonly tasks: Pick<LiveTasks, 'open' | 'release'>;
  readonly options: {
    readonly timeouts: { readonly generationMs: number };
    readonly limits: { readonly followersPerTask: number };
  };
}

/**
 * Resolves when a task is beyond a generation or ended, after `timeouts.generationMs`, when the caller left, and when the
 * server closes. At once for a task that does not exist. Rejects with `RESOURCE_EXHAUSTED` if too many follow the task.
 */
export async function waitForGeneration(
  taskId: string,
  generation: number,
  { scope, signal }: { readonly scope: Scope; readonly signal: AbortSignal },
  { tasks, options: { timeouts, limits } }: Waiting,
): Promise<void> {
  const live = await tasks.open(scope, taskId);
  if (!live) return;
  const isOver = () => generationOf(live.state) > generation || live.state.closed;
  try {
    if (!live.state.task || isOver()) return;
    live.enter(limits.followersPerTask);
    try {
      await live.subscribe();
      if (!isOver())
        await waitForFact(live, isOver, { after: live.version, ms: timeouts.generationMs, signal });
    } finally {
      live.leave();
    }
  } finally {
    tasks.release(live);
  }
}
