import type { PushConfig } from '@batonjs/store';

/** A row of the table `push_configs`. */
export interface PushRow {
  readonly id: number;
  readonly scope: string;
  readonly task_id: string;
  readonly config_id: string;
  readonly config: string;
  readonly protocol_version: string;
  readonly queue: string;
  readonly cursor: number;
  readonly attempts: number;
  readonly retry_at: number | null;
  readonly dead: string | null;
  readonly fence: number;
}

export function toPushConfig(row: PushRow): PushConfig {
  return {
    scope: row.scope,
    taskId: row.task_id,
    id: row.config_id,
    config: JSON.parse(row.config),
    protocolVersion: row.protocol_version,
    queue: row.queue,
    cursor: row.cursor,
    attempts: row.attempts,
    ...(row.retry_at !== null && { retryAt: new Date(row.retry_at).toISOString() }),
    ...(row.dead !== null && { dead: row.dead }),
  };
}
