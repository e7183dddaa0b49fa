import { A2AError } from '@batonjs/protocol/errors';
import type { Scope } from '@batonjs/store';
import { fromBase64Url, toBase64Url } from '#bytes';

/** Names a task for `server.wake()`. */
export const wakeKeyOf = (scope: Scope, taskId: string): string =>
  toBase64Url(JSON.stringify([scope, taskId]));

/** The task a key names. Throws an `A2AError` of reason `INVALID_PARAMS` if it is not a wake key. */
export function readWakeKey(key: string): { scope: Scope; taskId: string } {
  try {
    const [scope, taskId] = JSON.parse(fromBase64Url(key)) as unknown[];
    if (typeof scope === 'string' && typeof taskId === 'string') return { scope, taskId };
  } catch {
    // Said below.
  }
  throw new A2AError('INVALID_PARAMS', 'This is not a wake key');
}
