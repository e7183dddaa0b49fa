import type { TaskState } from '@batonjs/protocol';

/**
 * How much lies in a queue, for gauges. The store counts as things change, or looks at the first row of an index: a
 * reading costs the same however many tasks there are. A member that a store cannot tell at that cost is absent. Turns
 * that are pinned to a version are left out.
 */
export interface QueueReading {
  /** Tasks that wait for a turn. */
  readonly waiting: number;
  /** For how many milliseconds the turn that could have been claimed longest has waited; absent if none can. */
  readonly waitingMs?: number;
  /** Turns that begin or go on at a later time: after a pause, or as the next try. */
  readonly postponed?: number;
  /** Tasks that wait for an answer of their client, by state. States without such tasks may be absent. */
  readonly questions?: Readonly<Partial<Record<TaskState, number>>>;
  /** Milliseconds since the oldest of these questions was asked; absent if there is none. */
  readonly questionMs?: number;
  /** Webhooks that have not heard of all updates yet. A store may count up to 10,000 only, and etcd counts their tasks. */
  readonly undelivered?: number;
  /** For how many milliseconds the delivery that could have been claimed longest has waited; absent if none can. */
  readonly undeliveredMs?: number;
  /** Webhooks that were given up, counted in the same way. */
  readonly dead?: number;
}
