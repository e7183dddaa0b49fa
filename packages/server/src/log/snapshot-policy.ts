import { type Snapshot, type State, toSnapshot } from '@batonjs/lifecycle';
import { weigh } from '@batonjs/lifecycle/internals';

export type StoredSnapshot = Readonly<ReturnType<typeof storedSnapshot>>;

/** The largest weight of a snapshot. It is stored as one string, whose length engines and databases limit. */
const largest = 64 * 1024 * 1024;
/** Logs whose snapshot was too large, each with the weight from which another one is tried. */
const tooLarge = new WeakMap<object, number>();

/** The snapshot to store with a commit that leads to `state`, or undefined if none is due. `log` identifies the log. */
export function nextSnapshot(log: object, last: StoredSnapshot, state: State): Snapshot | undefined {
  if (!isWorthAnother(last, state) || state.weight < (tooLarge.get(log) ?? 0)) return undefined;
  const snapshot = toSnapshot(state);
  // A state is at most twice as heavy as its log, so only states of large logs need to be weighed.
  if (2 * state.weight <= largest || weigh(snapshot.state) <= largest) return snapshot;
  tooLarge.set(log, 1.5 * state.weight);
  return undefined;
}

/** The data about a stored snapshot that a process keeps. Weights are estimated bytes: of the facts up to it, and its own. */
export const storedSnapshot = (snapshot: Snapshot) => ({
  version: snapshot.version,
  weight: snapshot.state.weight,
  ownWeight: weigh(snapshot.state),
});

/**
 * A snapshot is due when at least 64 facts came after the last one, and weigh four times as much as it. A state that
 * grows is stored more and more rarely, so that the cost per fact stays the same. A state that only changes is stored
 * often enough to be loaded quickly.
 */
const isWorthAnother = (last: StoredSnapshot, { version, weight }: State): boolean =>
  version - last.version >= 64 && weight - last.weight >= 4 * last.ownWeight;
