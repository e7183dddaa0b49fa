import type { PushConfig } from '@batonjs/store';
import type { DatabaseRow } from '../database/database.ts';

/** A row of the table `push_configs`. */
export function toPushConfig(row: DatabaseRow): PushConfig {
  return {
    scope: String(row.scope),
    taskId: String(row.task_id),
    id: String(row.config_id),
    config: JSON.parse(String(row.config)),
    protocolVersion: String(row.protocol_version),
    queue: String(row.queue),
    cursor: Number(row.cursor),
    attempts: Number(row.attempts),
    ...(row.retry_at !== null && { retryAt: new Date(Number(row.retry_at)).toISOString() }),
    ...(row.dead !== null && { dead: String(row.dead) }),
  };
}
