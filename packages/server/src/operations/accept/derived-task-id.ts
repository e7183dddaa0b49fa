import type { Scope } from '@batonjs/store';
import { sha256 } from '#bytes';

/** The id of the task that a message starts, so that a repeated message meets the first one's task. A UUID in form. */
export function derivedTaskId(scope: Scope, messageId: string): string {
  const hex = sha256(JSON.stringify([scope, messageId]), 'hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
