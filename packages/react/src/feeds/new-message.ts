import type { MessageInput } from '@batonjs/client';
import { toRequest } from '@batonjs/client/answers';
import type { Message } from '@batonjs/protocol';

/**
 * A whole message, so that it can be shown before it was sent, and sent again as the same. A message that has an id keeps
 * its own members.
 */
export function newMessage(
  input: MessageInput,
  of: { readonly taskId?: string | undefined; readonly contextId?: string | undefined } = {},
): Message {
  const { taskId: task, contextId } = Object(input).messageId ? {} : of;
  return toRequest(input, { task, contextId }).message;
}
