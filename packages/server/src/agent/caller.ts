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
  /** The security schemes of the card that the caller satisfied, by name. Undefined: not known. */
  readonly schemes?: readonly string[];
  /** What the caller may do, in the words of the card's security schemes. Skills may require some. */
  readonly scopes?: readonly string[];
}
