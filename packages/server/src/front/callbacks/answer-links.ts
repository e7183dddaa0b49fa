import type { HttpReply } from '@batonjs/bindings';
import type { Part } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import { fieldsOf, readFields } from '@batonjs/protocol/form-fields';
import { FORM_TYPE } from '@batonjs/protocol/forms';
import { readOwnSchema } from '@batonjs/protocol/json-schema';
import type { Dependencies } from '../../operations/call/dependencies.ts';
import {
  type AnswerErrors,
  type Asked,
  answerQuestion,
  readAnswerLink,
  type WaitingQuestion,
} from '../../operations/callbacks/answer-question.ts';
import type { CallbackToken } from '../../operations/callbacks/receive-callback.ts';
import type { HttpExchange } from '../http/http-exchange.ts';
import { readContent } from '../http/request-body.ts';
import { linkText, questionPage, settledPage } from '../pages/answer-page.ts';

/** The type of the body that a page without a program posts. */
export const isForm = ({ headers }: HttpExchange): boolean =>
  /^application\/x-www-form-urlencoded\s*(;|$)/i.test(headers['content-type'] ?? '');

/** The page of a link, or what a program is told instead of it. Undefined if the token is that of no link. */
export async function showLink(
  token: CallbackToken,
  isPage: boolean,
  dependencies: Dependencies,
): Promise<HttpReply | undefined> {
  const linkStatus = await readAnswerLink(token, dependencies);
  if (linkStatus === 'unknown') return undefined;
  const { name } = dependencies.card;
  if (!isPage) return linkText(linkStatus, name);
  return typeof linkStatus === 'object' ? questionPage(linkStatus, name) : settledPage(linkStatus, name);
}

/** Takes what was posted from the page of a link. Undefined if the token is that of no link. */
export async function takeAnswer(
  token: CallbackToken,
  exchange: HttpExchange,
  requestId: string,
  dependencies: Dependencies,
): Promise<HttpReply | undefined> {
  const { name } = dependencies.card;
  const posted = await readPosted(exchange, requestId, dependencies);
  const questionId = posted.get('question') ?? '';
  const read = (asked: Asked) => answerIn(posted, asked);
  const linkStatus = await answerQuestion(token, { questionId, read }, dependencies);
  if (linkStatus === 'unknown') return undefined;
  if (typeof linkStatus === 'string') return settledPage(linkStatus, name);
  if (!('errors' in linkStatus)) return changedPage(linkStatus, name);
  return questionPage(linkStatus, name, { refused: { posted, errors: linkStatus.errors } });
}

const changedPage = (waiting: WaitingQuestion, agent: string): HttpReply =>
  questionPage(waiting, agent, {
    note: 'The question has changed since this page was loaded. Look at it again.',
  });

async function readPosted(
  exchange: HttpExchange,
  requestId: string,
  { logger, options: { limits, callbacks } }: Dependencies,
): Promise<URLSearchParams> {
  const options = { limits: { ...limits, bodyBytes: callbacks?.bytes ?? 0 } };
  const content = await readContent(exchange, { options, logger, requestId, ask: async () => {} });
  if ('text' in content) return new URLSearchParams(content.text);
  // A parser of the framework was there first.
  const texts = Object.entries(Object(content.value)).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  if (texts.length === 0) throw new A2AError('PARSE_ERROR', 'The form is empty');
  return new URLSearchParams(texts);
}

/** The parts of the answer, or its faults by member. */
function answerIn(
  posted: URLSearchParams,
  { form }: Asked,
): { readonly parts: readonly Part[] } | AnswerErrors {
  if (!form) {
    const text = (posted.get('text') ?? '').replaceAll('\r\n', '\n');
    return text.trim() === '' ? { errors: { text: 'Write an answer first' } } : { parts: [{ text }] };
  }
  const { values, errors } = readFields(fieldsOf(form.schema), ({ id }) => posted.getAll(id));
  if (Object.keys(errors).length > 0) return { errors };
  // The form of another agent is checked by the agent that asks, with care for its schema.
  const issues = form.isOwn ? readOwnSchema(form.schema)(values) : undefined;
  if (issues)
    return { errors: Object.fromEntries(issues.map(({ path, message }) => [path, message]).reverse()) };
  // The agent asked a client without forms: it reads the values as it would read that client's data.
  if (form.isHidden) return { parts: [{ data: values }] };
  return { parts: [{ data: { formId: form.formId, values }, mediaType: FORM_TYPE }] };
}
