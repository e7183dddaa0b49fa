import { createHash } from 'node:crypto';
import type { Message } from '@batonjs/protocol';
import type { Scope } from '@batonjs/store';

/** What makes two sends with one `messageId` the same: message and metadata, whatever the order of members. */
export const fingerprintOf = (message: Message, metadata: unknown): string =>
  createHash('sha256')
    .update(canonical([message, metadata ?? null]))
    .digest('base64url');

/** The id of the task that a message starts, so that a repeated message meets the first one's task. A UUID in form. */
export function derivedTaskId(scope: Scope, messageId: string): string {
  const hex = createHash('sha256')
    .update(JSON.stringify([scope, messageId]))
    .digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  members.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join()}}`;
}

/** A short digest of a text. */
export const fingerprintText = (text: string): string =>
  createHash('sha256').update(text).digest('base64url').slice(0, 16);
