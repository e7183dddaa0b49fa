import type { Scope } from '../port/names.ts';

/** A record with what it is found by. */
export interface RecordRow {
  /** Searched by it, in the order of its characters. */
  readonly name: string;
  readonly revision: number;
  readonly json: string;
  /** Searched by (scope, name). */
  readonly scope: Scope | undefined;
  readonly ttlMs: number | undefined;
  /** When its time is over, in milliseconds of the wall clock since 1970. Searched by it alone. */
  readonly expiresAt: number | undefined;
}
