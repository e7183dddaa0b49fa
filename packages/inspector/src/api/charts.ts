/** The time that charts look back over. */
export type ChartRange = 'hour' | 'day' | 'week';

/** What happened to the tasks of an agent in one span of time. */
export interface ChartBucket {
  readonly started: number;
  /** Those that failed included. */
  readonly ended: number;
  readonly failed: number;
  /** The most tasks that waited for an answer at once; absent while they were not counted. */
  readonly waiting?: number;
  /** Of the tasks that ended then: milliseconds from the first message to the end. Absent if none did. */
  readonly p50?: number;
  readonly p95?: number;
}

/** The charts of one agent. */
export interface AgentCharts {
  /** Id of the agent. */
  readonly agent: string;
  /** Oldest first; the last one is not over. */
  readonly buckets: readonly ChartBucket[];
  /** Of the whole time; `waiting` is how many wait now. */
  readonly total: ChartBucket;
  /** Tasks that changed before are not counted: ISO 8601. */
  readonly since: string;
  /** Tasks from before are still being read. */
  readonly isReading?: true;
  /** Why the store could not be read the last time. */
  readonly problem?: string;
}

/** Charts of all agents whose store the inspector has. */
export interface Charts {
  /** When the first span of time begins: ISO 8601. */
  readonly from: string;
  /** How long each is, in milliseconds. */
  readonly bucketMs: number;
  readonly agents: readonly AgentCharts[];
}
