import { SharedJson } from '@batonjs/bindings';
import { type State, type TaskView, toStreamResponse } from '@batonjs/lifecycle';
import type { StoredFact } from '@batonjs/store';
import { viewWithin } from './fit-task.ts';
import type { LiveTask } from './live-task.ts';

/** One event of a stream with the position a client may resume after. */
export interface StreamEvent {
  /** As in SSE `id` and `Last-Event-ID`. */
  readonly id: string;
  /** A `StreamResponse`. */
  readonly event: SharedJson;
  /** The stream ends after it. */
  readonly isLast?: boolean;
  /** The next one is there already: both can be written at once. */
  readonly hasNext?: boolean;
}

/** How those who follow a task see a fact of it, if they do. */
export function eventOf(live: LiveTask, origin: string, stored: StoredFact): StreamEvent | undefined {
  return live.eventOf(stored, ({ version, fact }) => {
    const event = toStreamResponse({ id: live.taskId, contextId: live.state.contextId }, fact);
    return event && { id: idOf(origin, version), event: new SharedJson(event) };
  });
}

/** The task as it is, in about so many bytes. */
export const taskEvent = (state: State, origin: string, view: TaskView, bytes: number): StreamEvent => ({
  id: idOf(origin, state.version),
  event: new SharedJson({ task: viewWithin(state, view, bytes) }),
});

/** `origin` tells this log from another that had the same task id once. */
const idOf = (origin: string, version: number): string => `${origin}.${version}`;

/** The position that an id names in the log of this origin, or undefined if it names none. */
export function positionIn(origin: string, id: string): number | undefined {
  const dot = id.lastIndexOf('.');
  const digits = id.slice(dot + 1);
  if (id.slice(0, dot) !== origin || !/^\d{1,15}$/.test(digits)) return undefined;
  return Number(digits);
}
