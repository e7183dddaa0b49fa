/**
 * - `lost`: an answer to a client is not in the log, or a follower was not shown a fact that is
 * - `duplicated`, `reordered`: kept or shown twice, or not in the order of the log
 * - `doubleTerminal`: a second end, a fact after the end, or two clients that saw different ends
 * - `doubleTurns`: two turns that wrote at the same time
 * - `stuck`: not at rest although it had the time
 * - `corrupt`: log, head, snapshot and events disagree
 */
export type ViolationKind =
  | 'lost'
  | 'duplicated'
  | 'reordered'
  | 'doubleTerminal'
  | 'doubleTurns'
  | 'stuck'
  | 'corrupt';

/** The kind of a violation and its description. */
export type Finding = readonly [ViolationKind, string];

/** Something that must never happen, and did. */
export interface Violation {
  readonly kind: ViolationKind;
  readonly taskId: string;
  /** The client that saw it, if one did. */
  readonly client?: string;
  readonly message: string;
}
