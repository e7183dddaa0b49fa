import type { Scope } from '@batonjs/store';
import { fromBase64Url, sha256, toBase64Url } from '#bytes';

/** What the last part of a callback's URL says. Who has it may send the value. */
export interface CallbackToken {
  readonly scope: Scope;
  readonly taskId: string;
  readonly id: string;
  readonly secret: string;
}

/** What of a token is signed: it is that of one agent of those on a store. */
export const signedText = (queue: string, { scope, taskId, id, secret }: CallbackToken): string =>
  JSON.stringify([queue, scope, taskId, id, secret]);

/** The token as one part of a path. */
export const writeCallbackToken = ({ scope, taskId, id, secret }: CallbackToken, signature: string): string =>
  toBase64Url(JSON.stringify([scope, taskId, id, secret, signature]));

/** The token that a part of a path is, and its signature; undefined if it is none. */
export function readCallbackToken(
  text: string,
): { readonly token: CallbackToken; readonly signature: string } | undefined {
  try {
    const members: unknown = JSON.parse(fromBase64Url(text));
    if (!Array.isArray(members) || !members.every((member) => typeof member === 'string')) return undefined;
    const [scope, taskId, id, secret, signature] = members as [Scope, string, string, string, string];
    // Other texts may read as the same one.
    if (toBase64Url(JSON.stringify(members)) !== text || members.length !== 5) return undefined;
    return { token: { scope, taskId, id, secret }, signature };
  } catch {
    return undefined;
  }
}

/** What the log keeps of a secret: it does not tell the secret, and is that of one agent of those on a store. */
export const hashOf = (queue: string, secret: string): string =>
  sha256(JSON.stringify([queue, secret]), 'base64url');
