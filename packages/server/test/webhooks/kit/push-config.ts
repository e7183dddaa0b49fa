import type { PushConfig } from '@batonjs/store';
import { scope } from '../../../../../test/kit/scope.ts';

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

/** A webhook of a task of `servePushing`, as its agent keeps it: without the checks of a request. */
export const registered = (
  config: PushConfig['config'] & { readonly taskId: string },
  protocolVersion = '1.0',
): PushConfig => ({
  ...push(config.url, config.id),
  scope,
  taskId: config.taskId,
  config,
  protocolVersion,
  queue: 'agent',
  cursor: 0,
});
