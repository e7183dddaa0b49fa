import { textOf } from '@batonjs/client';
import type { Part, Task } from '@batonjs/protocol';
import { type ClientCapabilities, type InputRequest, inputRequired } from '@modelcontextprotocol/server';
import { questionOf } from '../translation/question.ts';
import { opensUrls, showsForms } from './capabilities.ts';
import type { ClosedQuestions } from './closed-questions.ts';

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
