import type { PushConfig } from '@batonjs/store';

/** A webhook as the scripts return it. */
export type PushRow = readonly [
  hook: string,
  config: string,
  protocol: string,
  queue: string,
  cursor: number,
  attempts: number,
  retry: string | null,
  dead: string | null,
  fence: number,
];

/** Splits the name of a webhook in keys and scripts: task id, scope and its own id. */
function fromHookName(hook: string) {
  const [taskId = '', scope = '', id = ''] = hook.split('\0');
  return { scope, taskId, id };
}

export function toPushConfig(row: PushRow): PushConfig {
  const [hook, config, protocolVersion, queue, cursor, attempts, retry, dead] = row;
  return {
    ...fromHookName(hook),
    config: JSON.parse(config),
    protocolVersion,
    queue,
    cursor,
    attempts,
    ...(retry !== null && { retryAt: new Date(Number(retry)).toISOString() }),
    ...(dead !== null && { dead }),
  };
}
