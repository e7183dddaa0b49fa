import type { Known } from './valid-request.ts';

/** What became of a request. */
export interface Told {
  /** The status of the answer, or that there was none: `closed`, `left`. */
  readonly kind: string;
  /** The fault in the answer, in words; undefined if there is none. */
  readonly message: string | undefined;
  /** Whether the server said that it takes no requests now. */
  readonly isUnavailable: boolean;
  /** The request, and what was done to it. */
  readonly request: string;
}

/** How requests of a binding are made, sent and checked. */
export interface Road {
  /** Sends a request that is wrong in one way or several, or at least unusual. */
  sendMutated(random: () => number, known: Known): Promise<Told>;
  /** Sends a request that the server must understand. */
  sendValid(random: () => number, known: Known): Promise<Told>;
  close(): void;
}
