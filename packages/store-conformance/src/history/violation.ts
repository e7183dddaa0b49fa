/**
 * - `lost`: what a client was told is not in the log, or a follower was not shown what is
 * - `duplicated`, `reordered`: kept or shown twice, or not in the order of the log
 * - `doubleTerminal`: a second end, anything after the end, or two clients that were told different ends
 * - `doubleTurns`: two turns that wrote at the same time
 * - `stuck`: not settled although everything had the time to
 * - `corrupt`: log, head, snapshot and events do not say the same
 */
export type ViolationKind =
  | 'lost'
  | 'duplicated'
  | 'reordered'
  | 'doubleTerminal'
  | 'doubleTurns'
  | 'stuck'
  | 'corrupt';

/** Something that must never happen, and did. */
export interface Violation {
  readonly kind: ViolationKind;
  readonly taskId: string;
  /** Which client saw it, if one did. */
  readonly client?: string;
  readonly message: string;
}
