/** The store's clocks, in milliseconds. Those of the database, where it is on another machine. */
export interface Moment {
  /** The wall clock, since 1970. People's times are compared with it. */
  readonly now: number;
  /** The clock that orders the tasks that wait, since 1970: as the wall clock, but it never goes back in one process. */
  readonly orderNow: number;
  /** Of the clock of leases, which is never set and the same for all processes that share the store. */
  readonly leaseNow: number;
}
