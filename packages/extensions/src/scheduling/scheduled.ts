import type { Message, Part } from '@batonjs/protocol';
import { SCHEDULING } from '@batonjs/protocol/headers';

/** When a message is to be worked on. */
export interface Schedule {
  /** No turn starts for the message before. Goes by the clock of the agent's store. */
  readonly notBefore?: Date;
}

/**
 * Makes a message that is to be worked on later:
 * `agent.send(scheduled('Send the report', { notBefore }), { returnImmediately: true })`. Agents without the extension,
 * and clients that do not activate it, start at once: see `agent.card`. Throws `RangeError` for an invalid date.
 */
export const scheduled = (
  content: string | readonly Part[] | (Partial<Message> & Pick<Message, 'parts'>),
  { notBefore }: Schedule,
): Partial<Message> & Pick<Message, 'parts'> => {
  const message =
    typeof content === 'string'
      ? { parts: [{ text: content }] }
      : 'parts' in content
        ? content
        : { parts: [...content] };
  return {
    ...message,
    extensions: [...new Set([...(message.extensions ?? []), SCHEDULING])],
    metadata: {
      ...message.metadata,
      [SCHEDULING]: { ...(notBefore && { notBefore: notBefore.toISOString() }) },
    },
  };
};
