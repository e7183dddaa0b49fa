import type { MessageReceived } from '@batonjs/lifecycle';
import { isSameJson } from '@batonjs/protocol/json';

type Sent = Pick<MessageReceived, 'message' | 'metadata'>;

/**
 * Whether two sends with one `messageId` are the same: message and metadata, whatever the order of members. How the
 * answer is to be given (`configuration`) does not count. Task and context may have been filled in by the server.
 */
export const isSameMessage = (stored: Sent, sent: Sent): boolean =>
  isSameJson(bare(stored, sent), bare(sent, sent));

function bare({ message, metadata }: Sent, asked: Sent) {
  const { taskId, contextId, ...content } = message;
  return {
    content: JSON.parse(JSON.stringify(content)),
    metadata: JSON.parse(JSON.stringify(metadata ?? null)),
    ...(asked.message.taskId && { taskId }),
    ...(asked.message.contextId && { contextId }),
  };
}
