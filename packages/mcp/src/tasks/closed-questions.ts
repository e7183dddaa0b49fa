import type { Task } from '@batonjs/protocol';
import { remember } from '@batonjs/protocol/bounded-map';

/** How many closed questions are remembered. */
const most = 1_000;

/**
 * The questions that a user closed without an answer. A client does not show a key again that it answered, so such a
 * question is asked once more under another key. They are kept in this process only: without them, a question stays
 * open under the key that the client knows.
 */
export class ClosedQuestions {
  readonly #closed = new Map<string, true>();

  /** The key of the question that a task waits with. It stays the same until the question is answered or closed. */
  keyOf(task: Task): string {
    const first = firstKey(task);
    return this.#closed.has(entryOf(task.id, first)) ? again(first) : first;
  }

  /** Whether a key is one of the question that the task waits with, in whichever process it was asked. */
  isKeyOf(task: Task, key: string): boolean {
    const first = firstKey(task);
    return key === first || key === again(first);
  }

  /** Remembers that the user closed the question. */
  close(task: Task, key: string): void {
    const first = firstKey(task);
    if (key !== first) return;
    remember(this.#closed, entryOf(task.id, first), true, most);
  }
}

/** The id of the message that asks: every question is a message of its own. */
const firstKey = ({ id, status: { message, timestamp } }: Task): string =>
  message?.messageId || `${id}@${timestamp ?? ''}`;

const again = (key: string): string => `${key}~2`;

const entryOf = (taskId: string, key: string): string => JSON.stringify([taskId, key]);
