import { A2AError } from '@batonjs/protocol/errors';
import type { Scope } from '@batonjs/store';

/** Names a task for `server.wake()`. */
export const wakeKeyOf = (scope: Scope, taskId: string): string =>
  Buffer.from(JSON.stringify([scope, taskId])).toString('base64url');

/** The task a key names. Throws an `A2AError` of reason `INVALID_PARAMS` if it is not a wake key. */
export function readWakeKey(key: string): { scope: Scope; taskId: string } {
  try {
    const [scope, taskId] = JSON.parse(Buffer.from(key, 'base64url').toString()) as unknown[];
    if (typeof scope === 'string' && typeof taskId === 'string') return { scope, taskId };
  } catch {
    // Said below.
  }
  throw new A2AError('INVALID_PARAMS', 'This is not a wake key');
}
