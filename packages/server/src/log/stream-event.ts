import type { SharedJson } from '@batonjs/bindings';

/** One event of a stream with the position a client may resume after. */
export interface StreamEvent {
  /** As in SSE `id` and `Last-Event-ID`. */
  readonly id: string;
  /** A `StreamResponse`. */
  readonly event: SharedJson;
  /** The stream ends after it. */
  readonly isLast?: boolean;
}
