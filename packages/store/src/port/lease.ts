/**
 * The agent, tenant and caller that tasks belong to, as one opaque string. Tasks of another scope do not exist for it.
 * Scopes, all other ids, queues, holders and `once` are 1 to 1,024 characters (`length` of the string, so up to 3,072
 * bytes of UTF-8) of well-formed Unicode without NUL. Several of them together are longer than the index of most
 * databases takes: an adapter may keep a digest.
 */
export type Scope = string;

/** The name of one task. */
export interface TaskName {
  readonly scope: Scope;
  readonly taskId: string;
}

/** The right to work on a task. It is lost when it is released or a larger fence is issued, and not by time alone. */
export interface Lease {
  readonly scope: Scope;
  readonly taskId: string;
  readonly queue: string;
  /** The token that holds it, made for one turn. */
  readonly holder: string;
  /** Grows with every lease of the task. */
  readonly fence: number;
  /** Why it was granted; `'held'`: the token had it already. A hint only: the turn decides on the folded log. */
  readonly cause: 'committed' | 'wanted' | 'expired' | 'due' | 'held';
}

/** Which turn may write to a task, for people who look into a store. It may have changed when the reader gets it. */
export interface LeaseReading {
  /** The largest fence ever issued for the task; 0 before the first. */
  readonly fence: number;
  /** The token of the turn that has the lease; absent while the task is free. */
  readonly holder?: string;
  /** Whether the task waits for a process that starts a turn. */
  readonly isWanted: boolean;
}

/**
 * How many turns of a queue may run at once: tasks with a lease, in all processes. Unset: any number. A turn that runs
 * already is never ended by it.
 */
export interface TurnSchedule {
  /** Of all callers together. */
  readonly concurrency?: number;
  /** Of one scope. */
  readonly perCaller?: number;
  /** Of one context of a scope. */
  readonly perContext?: number;
}

/** Which leases are asked for, and by whom. */
export interface ClaimRequest {
  readonly queue: string;
  /** A token, new for every claim. A repeated claim with it gets the leases it has already, kept for `ttlMs` more. */
  readonly holder: string;
  /** How long the leases last, in milliseconds. */
  readonly ttlMs: number;
  readonly limit: number;
  /** Also tasks whose turns are pinned to one of these versions: those come first, and no schedule orders them. */
  readonly versions?: readonly string[];
  /** With `task`: whatever version its turn is pinned to. */
  readonly anyVersion?: boolean;
  /** Only this task. */
  readonly task?: TaskName;
  /**
   * With `task`: if it is due at this time (milliseconds since 1970), that has come, whatever the wall clock says. It may
   * have been set back since the time was written.
   */
  readonly dueAt?: number;
  /**
   * Whether the caller keeps the lease of this holder alive: the claim leaves it out though its time is up. A store in
   * another process cannot ask; the caller renews before it claims.
   */
  readonly isKept?: (holder: string) => boolean;
  /**
   * Gives out only as many tasks as may run at once, counted in the same step, also where claims race. Scopes come in
   * turn, that which got none for the longest time first. Within a scope the task that has waited longest comes first,
   * by the time since it waits or is due, plus `aheadMs`. Leases that ran out are given out in any case: their turns are
   * counted already. Without effect with `task`. Only at stores with `schedules`.
   */
  readonly schedule?: TurnSchedule;
}
