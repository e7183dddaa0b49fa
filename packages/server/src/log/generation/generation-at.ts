import { changesGeneration, type State } from '@batonjs/lifecycle';
import type { StreamResponse } from '@batonjs/protocol';
import type { Scope, TaskStore } from '@batonjs/store';

const batch = 512;

/** The event as JSON, with its generation. */
export function generationIn(event: StreamResponse, generation: number): StreamResponse {
  const value = String(generation);
  if ('statusUpdate' in event) return { statusUpdate: { ...event.statusUpdate, generation: value } };
  if ('artifactUpdate' in event) return { artifactUpdate: { ...event.artifactUpdate, generation: value } };
  return event;
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
