import type { PushConfig, PushConfigStore, TaskStore } from '@batonjs/store';

export type Both = TaskStore & PushConfigStore;

/** A webhook of task `t` as it is registered. */
export const push = (id: string, more: Partial<PushConfig> = {}) => ({
  scope: 's',
  taskId: 't',
  id,
  config: {
    id,
    taskId: 't',
    url: `https://example.com/${encodeURIComponent(id)}`,
    token: 'secret',
    authentication: { scheme: 'Bearer', credentials: 'also secret' },
  },
  protocolVersion: '1.0',
  queue: 'q',
  cursor: 0,
  ...more,
});
