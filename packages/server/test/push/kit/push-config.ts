import type { PushConfig } from '@batonjs/store';

/** A webhook as a store keeps it. */
export const push = (url: string, id = 'w', more: Partial<PushConfig> = {}): PushConfig => ({
  scope: 's',
  taskId: 't',
  id,
  config: { taskId: 't', id, url },
  protocolVersion: '1.0',
  queue: 'q',
  cursor: 3,
  attempts: 0,
  ...more,
});
