import type { Scope } from '@batonjs/store';
import { fromBase64Url, sha256, toBase64Url } from '#bytes';

/** What the last part of a callback's URL says. Who has it may send the value. */
export interface CallbackToken {
  readonly scope: Scope;
  readonly taskId: string;
  readonly id: string;
  readonly secret: string;
}

/** The token as one part of a path. */
export const writeCallbackToken = ({ scope, taskId, id, secret }: CallbackToken): string =>
  toBase64Url(JSON.stringify([scope, taskId, id, secret]));

/** The token that a part of a path is; undefined if it is none. */
export function readCallbackToken(text: string): CallbackToken | undefined {
  try {
    const members: unknown = JSON.parse(fromBase64Url(text));
    if (!Array.isArray(members) || !members.every((member) => typeof member === 'string')) return undefined;
    const [scope, taskId, id, secret] = members as [Scope, string, string, string];
    const token = { scope, taskId, id, secret };
    // Other texts may read as the same one.
    return writeCallbackToken(token) === text ? token : undefined;
  } catch {
    return undefined;
  }
}

/** What the log keeps of a secret: it does not tell the secret, and is that of one agent of those on a store. */
export const hashOf = (queue: string, secret: string): string =>
  sha256(JSON.stringify([queue, secret]), 'base64url');

/** Whether two texts are the same, in a time that only their lengths decide. */
export function isSameText(one: string, other: string): boolean {
  let difference = one.length ^ other.length;
  for (let index = 0; index < one.length; index++)
    difference |= one.charCodeAt(index) ^ other.charCodeAt(index);
  return difference === 0;
}
