/** The files mutated in one run, and the tests that have to fail. Paths begin at the root of the repository. */
export interface Part {
  readonly mutate: readonly string[];
  readonly tests: readonly string[];
  /**
   * Whether the tests run in one process for all mutations, which is several times faster. Only for tests that leave
   * nothing behind, and use no more of vitest than `warm/vitest.ts` has.
   */
  readonly warm?: boolean;
  /** Tests of a warm part whose names match this regular expression are left out. */
  readonly leftOut?: string;
  /** The server that the tests use: one for the whole run. */
  readonly server?: 'redis' | 'postgres' | 'etcd';
}
