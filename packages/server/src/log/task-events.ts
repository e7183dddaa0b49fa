import { SharedJson } from '@batonjs/bindings';
import { type State, type TaskView, toStreamResponse } from '@batonjs/lifecycle';
import type { StoredFact } from '@batonjs/store';
import { viewWithin } from './fit-task.ts';
import type { LiveTask } from './live-task.ts';
import type { StreamEvent } from './stream-event.ts';

/** The event that streams send for a fact; undefined if clients do not get it. */
export const eventOf = (live: LiveTask, origin: string, stored: StoredFact): StreamEvent | undefined =>
  live.recent.shared(stored, () => {
    const { version, commitId, fact } = stored;
    const event = toStreamResponse({ id: live.taskId, contextId: live.state.contextId }, fact);
    return event && { id: idOf(origin, version, commitId), event: new SharedJson(event) };
  });

/** The event with the whole task as it is in `state`, in about `bytes` bytes of JSON. */
export const taskEvent = (
  live: LiveTask,
  state: State,
  origin: string,
  view: TaskView,
  bytes: number,
): StreamEvent => ({
  id: idOf(origin, state.version, live.commitIdAt(state.version)),
  event: new SharedJson({ task: viewWithin(state, view, bytes) }),
});

/** A position that a client names in `Last-Event-ID`. */
export interface Position {
  readonly version: number;
  /** Whether this is the commit that the log held there when the event was sent. */
  readonly isOf: (commitId: string) => boolean;
}

/**
 * `<origin>.<version>~<mark>`: `origin` tells this log from another that had the same task id before, `mark` tells the
 * commit at the position from another that took its place after the store lost it.
 */
const idOf = (origin: string, version: number, commitId: string | undefined): string =>
  `${origin}.${version}${commitId === undefined ? '' : `~${markOf(commitId)}`}`;

/** The position that an id names in the log of this origin, or undefined if it names none. */
export function positionIn(origin: string, id: string): Position | undefined {
  const dot = id.lastIndexOf('.');
  const [, digits, mark] = /^(\d{1,15})~([0-9a-z]{1,7})$/.exec(id.slice(dot + 1)) ?? [];
  if (id.slice(0, dot) !== origin || digits === undefined) return undefined;
  return { version: Number(digits), isOf: (commitId) => markOf(commitId) === mark };
}

/** A hash of 32 bits (FNV-1a): enough to tell a commit from the few that can ever take its position. */
function markOf(text: string): string {
  let mark = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    mark = Math.imul(mark ^ text.charCodeAt(index), 0x01000193);
  }
  return (mark >>> 0).toString(36);
}
