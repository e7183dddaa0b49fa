import { type Snapshot, type State, weigh } from '@batonjs/lifecycle';

/** What is remembered of a snapshot that is stored. */
export interface TakenSnapshot {
  readonly version: number;
  /** What the facts up to it weigh. */
  readonly weight: number;
  /** What it weighs itself. */
  readonly ownWeight: number;
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
export const isWorthAnother = (last: TakenSnapshot, { version, weight }: State): boolean =>
  version - last.version >= 64 && weight - last.weight >= 4 * last.ownWeight;
