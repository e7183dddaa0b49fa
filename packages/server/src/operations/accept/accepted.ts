import type { State } from '@batonjs/lifecycle';
import type { LiveTask } from '../../log/live-task.ts';

/** A client's message that is in the log. The owner of this object releases `live`. */
export interface Accepted {
  readonly live: LiveTask;
  /** Position of the message. */
  readonly position: number;
  /** The message was in the log already. */
  readonly repeated?: boolean;
  /** The state right after the commit that brought the message; a later one if the message was known before. */
  readonly state: State;
}
