import { isInterrupted, isTerminal, type TaskUpdate } from '@batonjs/lifecycle';
import { weigh } from '@batonjs/lifecycle/internals';
import type { TaskState } from '@batonjs/protocol';
import { checkUpdate } from './check-agent-output.ts';

/** Updates that an agent gave without waiting until each was stored: they may share the commit of the one before. */
export interface WaitingUpdates {
  /**
   * Takes the next one, if it may share a commit. It counts as stored once `stored` is called or the iterator is asked
   * for its next value.
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
  if (!mayShareCommit(update)) return taken;
  let last = update;
  for (let bytes = weigh(update); bytes < largest.bytes && taken.length < largest.updates - 1; ) {
    if ('status' in last && isTerminal(last.status.state)) break;
    const next = waiting.take();
    if (!next) break;
    checkUpdate(next);
    taken.push(next);
    bytes += weigh(next);
    last = next;
  }
  return taken;
}

/** Artifacts and states may, but no question: it gives the task back. Any value may be asked for. */
export function mayShareCommit(update: unknown): boolean {
  const { artifact, status } = Object(update) as Partial<Record<'artifact' | 'status', unknown>>;
  const { state } = Object(status) as { readonly state?: TaskState };
  return artifact !== undefined || (state !== undefined && !isInterrupted(state));
}
