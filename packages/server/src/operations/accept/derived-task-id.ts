import { createHash } from 'node:crypto';
import type { Scope } from '@batonjs/store';

/** The id of the task that a message starts, so that a repeated message meets the first one's task. A UUID in form. */
export function derivedTaskId(scope: Scope, messageId: string): string {
  const hex = createHash('sha256')
    .update(JSON.stringify([scope, messageId]))
    .digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
