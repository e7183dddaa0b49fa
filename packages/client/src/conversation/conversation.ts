import type { Message, Task } from '@batonjs/protocol';

/**
 * What was said about a task, oldest first, each message once: its history and, unless it is in there already, the
 * message of its status. Servers differ in whether it is. Spec: §3.7.
 */
export function conversation({ history = [], status: { message } }: Task): Message[] {
  const known = message && history.some((said, index) => isSame(said, message, index === history.length - 1));
  return message && !known ? [...history, message] : [...history];
}

/** Whether `history` ends in the message of the status. Either is right: ask to learn about a server, not to check one. */
export function statusMessageIsLast({ history = [], status: { message } }: Task): boolean {
  const last = history.at(-1);
  return Boolean(message && last && isSame(last, message, true));
}

/** By id; a message without one can only be told by what it says, and where. */
const isSame = (said: Message, message: Message, isLast: boolean) =>
  message.messageId
    ? said.messageId === message.messageId
    : isLast && said.role === message.role && JSON.stringify(said.parts) === JSON.stringify(message.parts);
