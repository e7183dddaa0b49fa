import type { Part } from '@batonjs/protocol';

/**
 * From where a fork goes on: from the first message, after a step (the latest one of this name, with its result), or after
 * the fact at a position of the log, from 1.
 */
export type ForkFrom = 'start' | { readonly step: string } | { readonly position: number };

/** The task that begins as another one was at a point of its log. */
export interface Fork {
  readonly taskId: string;
  readonly from: ForkFrom;
  /** The time of all its facts: ISO 8601, UTC, milliseconds. */
  readonly at: string;
  /** From the first message on: what it says instead. Otherwise: what a message says that follows. */
  readonly parts?: readonly Part[] | undefined;
  /** The id of the message with these parts. */
  readonly messageId: string;
  /** Instead of the labels that the origin had. */
  readonly labels?: readonly string[] | undefined;
  /** Who asked for it. */
  readonly by?: string | undefined;
  /** Steps of the open turn that are not reused. */
  readonly forgotten?: readonly string[];
}
