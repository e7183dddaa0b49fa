import type { MessageInput } from '@batonjs/client';
import type { Message, Part } from '@batonjs/protocol';

/**
 * A whole message, so that it can be shown before it was sent, and sent again as the same. A message that has an id keeps
 * its own members.
 */
export function newMessage(
  input: MessageInput,
  of: { readonly taskId?: string | undefined; readonly contextId?: string | undefined } = {},
): Message {
  const given = typeof input === 'string' ? { parts: [{ text: input }] } : input;
  const content: Partial<Message> & Pick<Message, 'parts'> = Array.isArray(given)
    ? { parts: [...given] }
    : 'parts' in given
      ? (given as Message)
      : { parts: [given as Part] };
  const { taskId, contextId } = content.messageId ? {} : { ...of };
  return {
    messageId: newId(),
    role: 'ROLE_USER',
    ...(taskId && { taskId }),
    ...(contextId && { contextId }),
    ...content,
  };
}

/** A random id of 128 bits. `crypto.randomUUID` does not exist on pages without TLS. */
const newId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  );
