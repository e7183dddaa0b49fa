import { type Snapshot, type State, toSnapshot } from '@batonjs/lifecycle';
import { weigh } from '@batonjs/lifecycle/internals';

/** What is remembered of a snapshot that is stored. */
export interface TakenSnapshot {
  readonly version: number;
  /** What the facts up to it weigh. */
  readonly weight: number;
  /** What it weighs itself. */
  readonly ownWeight: number;
}

/** What a snapshot may weigh. It is stored as one text, and texts of engines and databases have a largest size. */
const largest = 64 * 1024 * 1024;
/** Logs whose snapshot was too large, with the weight from which on another one is tried. */
const tooLarge = new WeakMap<object, number>();

/** The snapshot to store with a commit that leads to this state, if it is time for one. `log` stands for the log. */
export function nextSnapshot(log: object, last: TakenSnapshot, state: State): Snapshot | undefined {
  if (!isWorthAnother(last, state) || state.weight < (tooLarge.get(log) ?? 0)) return undefined;
  const snapshot = toSnapshot(state);
  // A state repeats at most what its turn was told: only of large logs it has to be weighed.
  if (2 * state.weight <= largest || weigh(snapshot.state) <= largest) return snapshot;
  tooLarge.set(log, 1.5 * state.weight);
  return undefined;
}

export const taken = (snapshot: Snapshot): TakenSnapshot => ({
  version: snapshot.version,
  weight: snapshot.state.weight,
  ownWeight: weigh(snapshot.state),
});

/**
 * When the log since the last snapshot outweighs it: of a state that grows, rarer and rarer, so that the cost per fact
 * stays the same; of a state that only changes, as often as it takes to load it quickly.
 */
const isWorthAnother = (last: TakenSnapshot, { version, weight }: State): boolean =>
  version - last.version >= 64 && weight - last.weight >= 4 * last.ownWeight;
