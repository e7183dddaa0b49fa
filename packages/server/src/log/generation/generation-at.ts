import { changesGeneration, generationOf, type State, Timeline } from '@batonjs/lifecycle';
import type { StreamResponse } from '@batonjs/protocol';
import type { Scope, StoredFact, TaskStore } from '@batonjs/store';

const batch = 500;

export function generationIn(event: StreamResponse, generation: number): StreamResponse {
  const value = String(generation);
  if ('statusUpdate' in event) return { statusUpdate: { ...event.statusUpdate, generation: value } };
  if ('artifactUpdate' in event) return { artifactUpdate: { ...event.artifactUpdate, generation: value } };
  return event;
}

/** The generation of a task after the fact at `version`, from that of a later state. */
export async function generationAt(
  store: Pick<TaskStore, 'readFacts'>,
  { scope, taskId, state }: { readonly scope: Scope; readonly taskId: string; readonly state: State },
  version: number,
): Promise<number> {
  // The state may go on meanwhile: facts after it do not count.
  const { version: end } = state;
  const generation = generationOf(state);
  let later = 0;
  for await (const { fact } of factsUpTo(end, store, scope, taskId, version))
    if (changesGeneration(fact)) later += 1;
  return generation - later;
}

/** The timeline of a task after the fact at `version`: the newest `length` entries. Reads the log from its beginning. */
export async function readTimeline(
  store: Pick<TaskStore, 'readFacts'>,
  scope: Scope,
  taskId: string,
  version: number,
  length: number,
): Promise<Timeline> {
  const timeline = new Timeline(length);
  for await (const { fact } of factsUpTo(version, store, scope, taskId)) timeline.add(fact);
  return timeline;
}

/** The facts of a log after `after`, up to `version`, or those that are left of one that is deleted meanwhile. */
export async function* factsUpTo(
  version: number,
  store: Pick<TaskStore, 'readFacts'>,
  scope: Scope,
  taskId: string,
  after = 0,
): AsyncGenerator<StoredFact> {
  while (after < version) {
    const facts = await store.readFacts(scope, taskId, after, Math.min(batch, version - after));
    if (facts.length === 0) return;
    yield* facts;
    after += facts.length;
  }
}
