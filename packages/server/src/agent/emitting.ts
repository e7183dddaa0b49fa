import { isInterrupted, isTerminal, type TaskUpdate } from '@batonjs/lifecycle';
import { weigh } from '@batonjs/lifecycle/internals';
import type { TaskState } from '@batonjs/protocol';
import { type Agent, type Turn, taskAgent } from './agent.ts';
import { checkUpdate } from './check-agent-output.ts';

/**
 * Emits an update. Resolves when it is committed; rejects when it is refused, which also fails the turn, and when the
 * turn is over before it is committed.
 */
export type Emit = (update: TaskUpdate) => Promise<void>;

interface Waiting {
  readonly update: TaskUpdate;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

/** How many updates may wait for their commit; calling `emit` more often without awaiting it rejects. */
const mostWaiting = 1_024;

/**
 * An agent in callback style: call order is log order. Artifacts and states that are emitted while the ones before are
 * stored share a commit, so that emitting many without awaiting each is much faster. A question has one of its own. The turn fails if an `emit` fails, even if its promise is not
 * awaited. `emit` called after the function returned rejects.
 */
export const emitting = (work: (emit: Emit, turn: Turn) => Promise<void>): Agent =>
  taskAgent((turn) => {
    const waiting: Waiting[] = [];
    const underWay: Waiting[] = [];
    return withWaiting(updatesOf(work, turn, waiting, underWay), {
      take() {
        const [next] = waiting;
        if (!mayShareCommit(next?.update)) return undefined;
        underWay.push(...waiting.splice(0, 1));
        return next?.update;
      },
      putBack: () => void waiting.unshift(...underWay.splice(1)),
      stored: () => resolveAll(underWay),
    });
  });

/** Whether the task shows that this update ended the turn: a function around the agent's may have read it. */
function endsTurn(update: TaskUpdate | undefined, { task }: Turn): boolean {
  if (!task || !update || !('status' in update) || update.status.state !== task.status.state) return false;
  return isTerminal(task.status.state) || task.status.state === 'TASK_STATE_INPUT_REQUIRED';
}

function resolveAll(stored: Waiting[]): void {
  for (const { resolve } of stored.splice(0)) resolve();
}

function rejectAll(refused: Waiting[], error: unknown): void {
  for (const { reject } of refused.splice(0)) reject(error);
}

/** `underWay`: the update that was yielded last and those that were taken after it, until they are settled. */
async function* updatesOf(
  work: (emit: Emit, turn: Turn) => Promise<void>,
  turn: Turn,
  waiting: Waiting[],
  underWay: Waiting[],
): AsyncGenerator<TaskUpdate> {
  let change = (): void => {};
  let over = false;
  const emit: Emit = (update) => {
    const done = new Promise<void>((resolve, reject) => {
      if (over) reject(new TypeError('The turn is over'));
      else if (waiting.length >= mostWaiting) reject(new TypeError('Too many updates wait: await `emit`'));
      else waiting.push({ update, resolve, reject });
    });
    // An update that is not awaited still fails the turn, below.
    done.catch(() => {});
    change();
    return done;
  };
  let finished = false;
  const working = work(emit, turn).finally(() => {
    finished = true;
    change();
  });
  working.catch(() => {});
  let failure: unknown;
  try {
    for (;;) {
      const next = waiting.shift();
      if (!next) {
        if (finished) break;
        await new Promise<void>((resolve) => {
          change = resolve;
        });
        continue;
      }
      underWay.push(next);
      try {
        yield next.update;
        resolveAll(underWay);
      } catch (error) {
        failure ??= error;
        rejectAll(underWay, error);
      }
    }
    await working;
    if (failure) throw failure;
  } finally {
    over = true;
    // The turn may also end at the `yield`: after the update that ends it, or while an update is stored.
    if (endsTurn(underWay[0]?.update, turn)) resolveAll(underWay);
    rejectAll([...underWay, ...waiting], new TypeError('The turn is over'));
  }
}

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
const withWaiting = <T extends AsyncIterable<TaskUpdate>>(updates: T, waiting: WaitingUpdates): T =>
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
function mayShareCommit(update: unknown): boolean {
  const { artifact, status } = Object(update) as Partial<Record<'artifact' | 'status', unknown>>;
  const { state } = Object(status) as { readonly state?: TaskState };
  return artifact !== undefined || (state !== undefined && !isInterrupted(state));
}
