import type { Claims } from './agent.ts';

/** The caller of a request, as `authenticate` returned it. */
export interface Caller {
  /**
   * Names the caller, or the group whose tasks are shared: a caller with another scope sees none of its tasks. Never
   * empty.
   */
  readonly scope: string;
  /** Non-secret facts for the agent; stored with the message. */
  readonly claims?: Claims;
  /** What the caller may do, in the words of the card's security schemes. */
  readonly scopes?: readonly string[];
}
