import type { Message, Task } from '@batonjs/protocol';

/**
 * The messages of a task, oldest first, each one once: its history and the message of its status. Some servers include
 * the status message in the history, others do not. Spec: §3.7.
 */
export function conversation({ history = [], status: { message } }: Task): Message[] {
  const known =
    message && history.some((other, index) => isSame(other, message, index === history.length - 1));
  return message && !known ? [...history, message] : [...history];
}

/** Whether `history` ends with the status message. Both are valid: use it to learn about a server, not to validate one. */
export function statusMessageIsLast({ history = [], status: { message } }: Task): boolean {
  const last = history.at(-1);
  return Boolean(message && last && isSame(last, message, true));
}

/** Compares by id. Without an id, only the last message of the history can be the same, if its role and parts are equal. */
const isSame = (other: Message, message: Message, isLast: boolean) =>
  message.messageId
    ? other.messageId === message.messageId
    : isLast && other.role === message.role && JSON.stringify(other.parts) === JSON.stringify(message.parts);
