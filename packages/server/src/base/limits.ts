/** The sizes beyond which the server refuses with a clear error, instead of using more memory. */
export interface Limits {
  /** Turns running at once in this process; more wait in the store's queue. Default 1,000. */
  readonly turns: number;
  /**
   * Tasks waiting for a turn; beyond it, sends are answered RESOURCE_EXHAUSTED. The store counts them in the
   * commit. Redis Cluster counts only the shard of the task there, and all shards shortly before. etcd counts shortly
   * before the commit. Default 10,000.
   */
  readonly queuedTurns: number;
  /**
   * Facts of one task, of clients and agents together; beyond it only a cancel and a terminal update are accepted.
   * Default 100,000.
   */
  readonly factsPerTask: number;
  /**
   * Bytes of one task's content, estimated; beyond it only a cancel and a terminal update of at most 64 KiB are
   * accepted. Default 256 MiB.
   */
  readonly bytesPerTask: number;
  /**
   * Bytes of what the agent of one task keeps in `turn.memory` and in steps for the whole task, estimated. Default 1 MiB.
   */
  readonly memoryBytes: number;
  /** Lines of `turn.log` that are kept with one task; later ones go to the `logger` only. 0: none. Default 1,000. */
  readonly logLinesPerTask: number;
  /** Bytes of those lines, estimated. Default 256 KiB. */
  readonly logBytesPerTask: number;
  /** Open streams on one task in this process, those of sends included. Default 10,000. */
  readonly followersPerTask: number;
  /**
   * Bytes of one reply, estimated, and of the result of one call of `turn.context` or `turn.references`. Lists get
   * shorter pages; a task that is larger alone comes without its oldest messages, or without its artifacts, and lists
   * in its metadata which of them are missing. Default 16 MiB.
   */
  readonly replyBytes: number;
  /** How far in the future a message may be put off, in milliseconds. Default 366 days. */
  readonly notBeforeMs: number;
  /** Bytes of one request's body. Default 4 MiB. */
  readonly bodyBytes: number;
  /** Levels of nesting in one request's JSON. Default 100. */
  readonly jsonDepth: number;
  /**
   * Values in one request's JSON, and five times the different names of its members: what they cost in time, bytes do not
   * bound. Default 100,000.
   */
  readonly jsonValues: number;
}

export const defaultLimits: Limits = {
  turns: 1_000,
  queuedTurns: 10_000,
  factsPerTask: 100_000,
  bytesPerTask: 256 * 1024 * 1024,
  memoryBytes: 1024 * 1024,
  logLinesPerTask: 1_000,
  logBytesPerTask: 256 * 1024,
  followersPerTask: 10_000,
  replyBytes: 16 * 1024 * 1024,
  notBeforeMs: 366 * 24 * 3_600_000,
  bodyBytes: 4 * 1024 * 1024,
  jsonDepth: 100,
  jsonValues: 100_000,
};
