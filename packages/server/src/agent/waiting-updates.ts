import type { TaskUpdate } from '@batonjs/lifecycle';
import { weigh } from '@batonjs/lifecycle/internals';
import { checkUpdate } from './check-agent-output.ts';

/** Updates that an agent gave without waiting until each was stored: they may share the commit of the one before. */
export interface WaitingUpdates {
  /**
   * Takes the next one, if it is an artifact. It counts as stored once `stored` is called or the iterator is asked for
   * its next value.
   */
  take(): TaskUpdate | undefined;
  /** Those that were taken are not stored: the iterator yields them. */
  putBack(): void;
  /** The update that the iterator yielded last is stored, and so are those that were taken after it. */
  stored(): void;
}

const waitingUpdates = Symbol('waitingUpdates');

/** Updates, some of which may wait. A reader that knows nothing of that gets each of them on its own. */
export const withWaiting = <T extends AsyncIterable<TaskUpdate>>(updates: T, waiting: WaitingUpdates): T =>
  Object.assign(updates, { [waitingUpdates]: waiting });

/** The updates that wait behind the one that was read from `updates`. */
export const waitingIn = (
  updates: AsyncIterable<TaskUpdate> & { readonly [waitingUpdates]?: WaitingUpdates },
): WaitingUpdates | undefined => updates[waitingUpdates];

/** The most updates of a commit, and about how many bytes they may have, with the one that exceeds it. */
const largest = { updates: 128, bytes: 64 * 1024 };

/** Takes the updates that may be committed together with this one. Throws if an agent may not send one of them. */
export function takeWaiting(update: TaskUpdate, waiting: WaitingUpdates): TaskUpdate[] {
  const taken: TaskUpdate[] = [];
  if (!('artifact' in update)) return taken;
  for (let bytes = weigh(update); bytes < largest.bytes && taken.length < largest.updates - 1; ) {
    const next = waiting.take();
    if (!next) break;
    checkUpdate(next);
    taken.push(next);
    bytes += weigh(next);
  }
  return taken;
}
