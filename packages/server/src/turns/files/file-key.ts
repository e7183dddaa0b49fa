import type { Scope } from '@batonjs/store';
import { fromBase64Url, toBase64Url } from '#bytes';

/** The place of files that no message has named yet. No task is called so: the words of others have another form. */
export const UPLOADS = 'uploads';

/** A name as one part of a key. Plain ids stay as they are; no other name reads as one. */
const word = (name: string): string => (/^[\da-f-]{1,100}$/.test(name) ? name : `x.${toBase64Url(name)}`);

/** The beginning of the keys of all files of an agent. */
export const prefixOfQueue = (queue: string): string => `${word(queue)}/`;

/** The beginning of the keys of all files of a scope, and of no other: it says how many parts the scope takes. */
export function prefixOfScope(queue: string, scope: Scope): string {
  const parts = toBase64Url(scope).match(/.{1,190}/g) ?? [];
  return `${prefixOfQueue(queue)}${parts.length}.${parts.join('/')}/`;
}

export const prefixOfTask = (queue: string, scope: Scope, taskId: string): string =>
  `${prefixOfScope(queue, scope)}${taskId === UPLOADS ? UPLOADS : word(taskId)}/`;

/** Whose file a key names; undefined for a key that is none of these. */
export function ownerOf(key: string): { readonly scope: Scope; readonly taskId: string } | undefined {
  const [, count, rest = ''] = /^[^/]+\/(\d+)\.(.+)\/[^/]+$/.exec(key) ?? [];
  const parts = rest.split('/');
  const last = parts.pop() ?? '';
  if (parts.length !== Number(count)) return undefined;
  const taskId = last.startsWith('x.') ? fromBase64Url(last.slice(2)) : last;
  return { scope: fromBase64Url(parts.join('')) as Scope, taskId };
}
