import type { StreamResponse } from '@batonjs/protocol';

/** One event of a stream with the position a client may resume after. */
export interface StreamEvent {
  /** As in SSE `id` and `Last-Event-ID`. */
  readonly id: string;
  readonly event: StreamResponse;
  /** The stream ends after it. */
  readonly isLast?: boolean;
}

/** `origin` tells this log from another that had the same task id once. */
export const idOf = (origin: string, version: number): string => `${origin}.${version}`;

/** The position that an id names in the log of this origin, or undefined if it names none. */
export function positionIn(origin: string, id: string): number | undefined {
  const dot = id.lastIndexOf('.');
  const digits = id.slice(dot + 1);
  if (id.slice(0, dot) !== origin || !/^\d{1,15}$/.test(digits)) return undefined;
  return Number(digits);
}
