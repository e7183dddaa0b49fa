import { withDefaults } from '@batonjs/protocol/options';

/** How long a server or a worker waits for what, in milliseconds, with the defaults. Undefined: without an end. */
export const timeouts = {
  /** How long a turn outlives its process before another takes over. Default 10,000. */
  leaseMs: 10_000,
  /** How long an agent may go on after a cancel before the task is CANCELED without it. Default 5,000. */
  cancelGraceMs: 5_000,
  /**
   * How long one store call may take, and one of `authenticate`, `card.tenants`, `card.sign` and `card.extended`: a request
   * is refused as UNAVAILABLE then. Default 5,000. All attempts of a write for a client together end after four fifths of it.
   */
  storeMs: 5_000,
  /**
   * How often the process reads the tasks that it follows from the store, in case a notification was lost. Default
   * 1,000; `Infinity`: never.
   */
  sweepMs: 1_000,
  /**
   * How long a blocking SendMessage waits before the task is returned as it is. Default 50,000: proxies cut requests off
   * after 60 s. Clients of Baton go on waiting; others read or follow the task.
   */
  blockingMs: 50_000,
  /** How long CancelTask waits for the task to end before it is returned as it is. Default 10,000. */
  cancelMs: 10_000,
  /** How long GetTask with `currentGeneration` waits for a change, with 1.1 in `compatibility`. Default 30,000. */
  generationMs: 30_000,
  /**
   * How long a task may take, from the first message, or from the time to which it is postponed, to a terminal state. Then
   * it is FAILED with `DEADLINE_EXCEEDED`.
   */
  taskMs: undefined as number | undefined,
  /** How long a running turn may take between two updates before its task fails in the same way. */
  inactivityMs: undefined as number | undefined,
  /**
   * How long a task may be INPUT_REQUIRED or AUTH_REQUIRED before it fails in the same way. Without it, a question
   * without an answer is never pruned.
   */
  interruptedMs: undefined as number | undefined,
};

export type Timeouts = Readonly<typeof timeouts>;

/** Those that end a task: give all servers and workers of an agent the same. */
export type TaskTimeouts = Partial<Pick<Timeouts, 'taskMs' | 'inactivityMs' | 'interruptedMs'>>;

/** Throws `TypeError` for times that cannot work. */
export function completeTimeouts(given: Partial<Timeouts> | undefined): Timeouts {
  const complete = withDefaults(timeouts, given);
  const { leaseMs, sweepMs } = complete;
  mustBePositive('timeouts', { leaseMs, sweepMs });
  return complete;
}

/** Throws `TypeError`, naming the option of the group, unless all values are more than 0. */
export function mustBePositive(group: string, values: Record<string, number | undefined>): void {
  for (const [name, value] of Object.entries(values))
    if (!(Number(value) > 0)) throw new TypeError(`\`${group}.${name}\` must be more than 0`);
}

/** How streams are kept open, with the defaults. */
export const streamOptions = {
  /**
   * How long a stream over HTTP is silent before it sends a comment, so that proxies keep the connection: one of AG-UI or a
   * chat on this server, too. Default 15,000. Below the time after which the proxy closes idle ones: some do after 10 s.
   */
  heartbeatMs: 15_000,
  /** Whether the stream of a send ends at INPUT_REQUIRED, or only with the task. Default true. */
  closeOnInputRequired: true,
};

export type StreamOptions = Readonly<typeof streamOptions>;
