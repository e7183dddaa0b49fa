import type { Artifact, Message } from '@batonjs/protocol';
import { isObject } from '@batonjs/protocol/json';
import { at, type Codec, list, object, text } from '../wire/codec.ts';
import type { V03Artifact, V03Message } from '../wire/objects.ts';
import { part } from './part.ts';

const parts = list(part);

const roles: ReadonlyMap<unknown, string> = new Map([
  ['user', 'ROLE_USER'],
  ['agent', 'ROLE_AGENT'],
]);

const role: Codec<unknown, unknown> = {
  decode(given, { isLenient }) {
    const plain = isLenient && typeof given === 'string' ? given.toLowerCase().replace(/^role_/, '') : given;
    // An unknown role is not passed on: a role of 1.0 is not valid in 0.3.
    return roles.get(plain) ?? 'ROLE_UNSPECIFIED';
  },
  encode: (given, { isProto }) =>
    isProto ? (given === 'ROLE_USER' ? given : 'ROLE_AGENT') : given === 'ROLE_USER' ? 'user' : 'agent',
};

/** A message. `referenceTaskIds` have no place in protocol buffers. */
export const message = object<V03Message, Message>({
  kind: 'message',
  members: { role, parts },
  spellings: { content: 'parts' },
  write(older, { referenceTaskIds }, { isProto, report }, path) {
    if (!isProto) return older;
    if (referenceTaskIds) report('references', at(path, 'referenceTaskIds'));
    const { parts: content, referenceTaskIds: _, ...rest } = older;
    return { ...rest, content };
  },
});

/** An artifact. */
export const artifact = object<V03Artifact, Artifact>({ members: { parts } });

/** The params of a send, if lenient with a `messageId` that the sender left out. */
export function identified(params: Record<string, unknown>, isLenient: boolean): Record<string, unknown> {
  const { message } = params;
  if (!isLenient || !isObject(message) || text(message.messageId) !== undefined) return params;
  return { ...params, message: { ...message, messageId: crypto.randomUUID() } };
}
