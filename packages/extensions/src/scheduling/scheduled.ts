import type { Message, Part } from '@batonjs/protocol';
import { SCHEDULING } from '@batonjs/protocol/headers';

/** When and how urgently a message is to be worked on. */
export interface Schedule {
  /** No turn starts for the message before. Goes by the clock of the agent's store. */
  readonly notBefore?: Date;
  /**
   * How urgent it is among the caller's own messages, a whole number from 0 (default) to 9. An agent without a
   * `schedule` starts messages as they come.
   */
  readonly priority?: number;
}

/**
 * Makes a message that is to be worked on later, or before others:
 * `agent.send(scheduled('Send the report', { notBefore }), { returnImmediately: true })`. Agents without the extension,
 * and clients that do not activate it, start as usual: see `agent.card`. Throws `RangeError` for an invalid date.
 */
export const scheduled = (
  content: string | readonly Part[] | (Partial<Message> & Pick<Message, 'parts'>),
  { notBefore, priority }: Schedule,
): Partial<Message> & Pick<Message, 'parts'> => {
  const message = toMessage(content);
  const scheduling = {
    ...(notBefore && { notBefore: notBefore.toISOString() }),
    ...(priority !== undefined && { priority }),
  };
  return {
    ...message,
    extensions: [...new Set([...(message.extensions ?? []), SCHEDULING])],
    metadata: { ...message.metadata, [SCHEDULING]: scheduling },
  };
};

function toMessage(content: Parameters<typeof scheduled>[0]): Partial<Message> & Pick<Message, 'parts'> {
  if (typeof content === 'string') return { parts: [{ text: content }] };
  return 'parts' in content ? content : { parts: [...content] };
}
