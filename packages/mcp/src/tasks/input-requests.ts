import { textOf } from '@batonjs/client';
import type { Part, Task } from '@batonjs/protocol';
import { remember } from '@batonjs/protocol/bounded-map';
import { type ClientCapabilities, type InputRequest, inputRequired } from '@modelcontextprotocol/server';
import { questionOf } from '../translation/question.ts';
import { opensUrls, showsForms } from './task-options.ts';

/** What the client is asked, by the keys under which it answers. Never empty. */
export type InputRequests = Readonly<Record<string, InputRequest>>;

/**
 * What a task that waits asks the client. Undefined if it does not wait, or if the client cannot be asked: a request
 * that a client does not take must not be sent.
 */
export function inputRequestsOf(
  task: Task,
  client: ClientCapabilities,
  closedQuestions: ClosedQuestions,
): InputRequests | undefined {
  const { state } = task.status;
  if (state === 'TASK_STATE_INPUT_REQUIRED' && showsForms(client)) {
    const { message, requestedSchema } = questionOf(task);
    return { [closedQuestions.keyOf(task)]: inputRequired.elicit({ message, requestedSchema }) };
  }
  const url = state === 'TASK_STATE_AUTH_REQUIRED' && opensUrls(client) ? urlIn(task) : undefined;
  if (url === undefined) return undefined;
  const message = textOf(task.status.message) || 'The agent needs an authorization before it can go on.';
  return { [closedQuestions.keyOf(task)]: inputRequired.elicitUrl({ message, url }) };
}

/** The address at which the authorization is given: that of a link, or the first one in the text. */
function urlIn({ status }: Task): string | undefined {
  const parts: readonly Part[] = status.message?.parts ?? [];
  const texts = parts.map((part) => ('url' in part ? part.url : 'text' in part ? part.text : ''));
  const [found] = texts.flatMap((text) => /https?:\/\/[^\s<>"']+/.exec(text ?? '') ?? []);
  if (found === undefined) return undefined;
  // A sentence may end behind it.
  let end = found.length;
  while (').,;:!?'.includes(found.charAt(end - 1))) end -= 1;
  const url = found.slice(0, end);
  return URL.canParse(url) ? url : undefined;
}

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
