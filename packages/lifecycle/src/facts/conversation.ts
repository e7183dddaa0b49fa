import type { Message } from '@batonjs/protocol';
import { append, emptyList, type List } from '../values/list.ts';
import type { Fact } from './facts.ts';

/** Messages in the order in which they came, each `messageId` once. Grows like a `List`. */
export interface Conversation {
  readonly messages: List<Message>;
  /** Positions by `messageId`. Later conversations share it: positions past the end belong to those. */
  readonly positions: ReadonlyMap<string, number>;
}

/** A conversation without messages. The first message makes a map of its own. */
export const emptyConversation: Conversation = { messages: emptyList, positions: new Map() };

/** The position of the message with this id, or -1. */
export function positionOf({ messages, positions }: Conversation, messageId: string): number {
  const position = positions.get(messageId) ?? -1;
  return position < messages.length ? position : -1;
}

/** The message with this id; undefined if the conversation has none. */
export const messageOf = (conversation: Conversation, messageId: string): Message | undefined =>
  conversation.messages.items[positionOf(conversation, messageId)];

/** The conversation with the message at its end; unchanged if it has the message already. */
export function addMessage(conversation: Conversation, message: Message): Conversation {
  if (positionOf(conversation, message.messageId) !== -1) return conversation;
  const messages = append(conversation.messages, message);
  const shared = messages.items === conversation.messages.items;
  const positions = (
    shared
      ? conversation.positions
      : new Map(messages.items.map(({ messageId }, index) => [messageId, index]))
  ) as Map<string, number>;
  positions.set(message.messageId, messages.length - 1);
  return { messages, positions };
}

/** What a task is found by in searches by text: the texts of the message that began it. */
export function textOfFirst([first]: readonly Fact[]): string | undefined {
  if (first?.type !== 'message-received') return undefined;
  const { parts } = first.message;
  const [part] = parts;
  if (part && parts.length === 1) return 'text' in part ? part.text : undefined;
  const texts = parts.flatMap((each) => ('text' in each ? [each.text] : []));
  return texts.length > 0 ? texts.join('\n') : undefined;
}
