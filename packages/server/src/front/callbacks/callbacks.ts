import { type HttpReply, toHeaders } from '@batonjs/bindings';
import type { Part } from '@batonjs/protocol';
import { A2AError, errorTable } from '@batonjs/protocol/errors';
import { fieldsOf, readFields } from '@batonjs/protocol/form-fields';
import { FORM_TYPE } from '@batonjs/protocol/forms';
import { isJsonType, JSON_TYPE, mediaTypeOf } from '@batonjs/protocol/headers';
import { describeIssues, readOwnSchema } from '@batonjs/protocol/json-schema';
import { bucketOf } from '../../base/caller-rate.ts';
import type { PageWords } from '../../base/page-words.ts';
import type { Dependencies } from '../../operations/call/call-context.ts';
import { toWireError } from '../../operations/call/wire-error.ts';
import {
  type AnswerErrors,
  type Asked,
  answerQuestion,
  type LinkName,
  openQuestions,
  readAnswerLink,
} from '../../operations/callbacks/answer-question.ts';
import {
  type CallbackOutcome,
  type CallbackToken,
  receiveCallback,
  signedToken,
} from '../../operations/callbacks/receive-callback.ts';
import { REQUEST_ID, requestIdOf } from '../calls/call-target.ts';
import { type Handle, type HttpExchange, readBody, readContent, refusal } from '../http/request-body.ts';
import {
  type Asking,
  inboxPage,
  isMoment,
  linkText,
  messagePage,
  questionPage,
  settledPage,
} from '../pages/answer-page.ts';

/**
 * Takes the values of callbacks, and the answers of people to questions, at any path that ends in `/callbacks/` and a token. The token is the credential: it is
 * looked at before any other part of the server, and stands in no log, span or answer.
 */
export function withCallbacks(handle: Handle, dependencies: Dependencies): Handle {
  const { words } = dependencies.options.callbacks ?? {};
  if (!words) return handle;
  const asking = { agent: dependencies.card.name, words };
  return async (exchange) => {
    const token = tokenIn(exchange.path);
    if (token === undefined) return handle(exchange);
    const requestId = requestIdOf(exchange.headers, dependencies.clock);
    const reply = await answer(token, { ...exchange, path: shownPath }, requestId, dependencies, asking);
    return { ...reply, headers: { ...reply.headers, [REQUEST_ID]: requestId, 'cache-control': 'no-store' } };
  };
}

/** What logs show for the path. */
const shownPath = '/callbacks/…';

function tokenIn(path: string): string | undefined {
  const at = path.lastIndexOf('/');
  return path.endsWith('/callbacks', at) ? path.slice(at + 1) : undefined;
}

async function answer(
  text: string,
  exchange: HttpExchange,
  requestId: string,
  dependencies: Dependencies,
  asking: Asking,
): Promise<HttpReply> {
  const { method, path } = exchange;
  const isPage = isForPerson(exchange);
  try {
    if (!/^(POST|GET|HEAD)$/.test(method)) return notAllowed;
    if (exchange.refusal) throw exchange.refusal;
    if (!dependencies.isOpen()) throw new A2AError('UNAVAILABLE', 'The server is closing', { retryAfter: 1 });
    const token = await signedToken(text, dependencies.options);
    if (!token) return unsignedReply(exchange, asking);
    await count(exchange, dependencies);
    const link = linkIn(token, exchange);
    const of = { ...asking, isOfInbox: 'by' in link };
    if (method !== 'POST') {
      const shown = await showLink(link, isPage, of, dependencies);
      const page = shown ?? (isPage ? settledPage('unknown', asking) : notAllowed);
      return method === 'HEAD' ? withoutBody(page) : page;
    }
    if (isPage)
      return (await takeAnswer(link, exchange, requestId, of, dependencies)) ?? noLink(exchange, of);
    if (of.isOfInbox) return replyOf('link');
    const value = await readValue(exchange, requestId, dependencies);
    return replyOf(await receiveCallback(token, value, dependencies));
  } catch (error) {
    const wire = toWireError(error, dependencies.logger, { requestId, method, path });
    const code = errorTable[wire.reason].http;
    const reply = isPage
      ? messagePage(code, 'That did not work', advices[code] ?? advice, asking)
      : refusal(code, wire.message);
    return { ...reply, headers: { ...reply.headers, ...toHeaders(wire) } };
  }
}

/** What a person may do, by the status. */
const advice = 'Load this page again. If that does not help, ask for another link.';
const busy = 'Too much is going on at the moment. Try again in a minute.';
const advices: Readonly<Record<number, string>> = { 413: 'The answer is too long.', 429: busy, 503: busy };

/** Whether a browser asks for the page of a link, or posts its form. */
const isForPerson = (exchange: HttpExchange): boolean =>
  exchange.method === 'POST' ? isForm(exchange) : takesPages(exchange);

const takesPages = ({ headers }: HttpExchange): boolean => /\btext\/html\b/i.test(headers.accept ?? '');

/** Counts the value for its address. Throws `RESOURCE_EXHAUSTED`. */
async function count(
  { remoteAddress = 'unknown' }: HttpExchange,
  { store, options: { queue, callbacks } }: Dependencies,
): Promise<void> {
  const waitMs =
    callbacks?.rate && (await store.take?.(bucketOf('callbacks', queue, `${remoteAddress}`), callbacks.rate));
  if (!waitMs) return;
  throw new A2AError('RESOURCE_EXHAUSTED', 'Too many values', { retryAfter: Math.ceil(waitMs / 1_000) });
}

async function readValue(
  exchange: HttpExchange,
  requestId: string,
  { logger, options: { limits, callbacks } }: Dependencies,
): Promise<unknown> {
  if (!isJsonType(mediaTypeOf(exchange.headers['content-type'])))
    throw new A2AError('UNSUPPORTED_MEDIA_TYPE', `A callback takes ${JSON_TYPE}`);
  const bodyBytes = callbacks?.bytes ?? 0;
  const options = { limits: { ...limits, bodyBytes } };
  const body = await readBody(exchange, { options, logger, requestId, ask: async () => {} });
  if (!body) throw new A2AError('PARSE_ERROR', 'The body is empty');
  return body.json();
}

function replyOf(outcome: CallbackOutcome): HttpReply {
  switch (outcome) {
    case 'accepted':
      return { status: 202, headers: {} };
    case 'unknown':
      return refusal(404, 'There is no such callback');
    case 'used':
      return refusal(409, 'The callback was used with another value');
    case 'link':
      return refusal(415, 'A person answers here, on the page of this address');
    case 'expired':
      return refusal(410, 'The callback has expired');
    case 'ended':
      return refusal(410, 'The task has ended');
    default:
      return refusal(422, describeIssues(outcome));
  }
}

const noLink = (exchange: HttpExchange, asking: Asking): HttpReply =>
  !takesPages(exchange) ? refusal(415, `A callback takes ${JSON_TYPE}`) : settledPage('unknown', asking);

/** The answer to a token that this store did not sign. */
function unsignedReply(exchange: HttpExchange, asking: Asking): HttpReply {
  if (!isForPerson(exchange)) return exchange.method === 'POST' ? replyOf('unknown') : notAllowed;
  const page = noLink(exchange, asking);
  return exchange.method === 'HEAD' ? withoutBody(page) : page;
}

const withoutBody = ({ status, headers }: HttpReply): HttpReply => ({ status, headers });

const notAllowed = refusal(405, 'A callback takes a POST', { allow: 'POST' });

/** The type of the body that a page without a program posts. */
const isForm = ({ headers }: HttpExchange): boolean =>
  /^application\/x-www-form-urlencoded\s*(;|$)/i.test(headers['content-type'] ?? '');

/** The link of a token; of one to the questions of a person, that to the task which the query names. */
function linkIn(token: CallbackToken, { query }: HttpExchange): LinkName {
  if (token.taskId !== '') return token;
  const [taskId = ''] = /^[!-~]{1,512}$/.exec(query.get('task') ?? '') ?? [];
  return { scope: token.scope, taskId, by: token.id, expiresAt: token.secret };
}

/** The page of a link, or what a program is told instead of it. Undefined if the token is that of no link. */
async function showLink(
  link: LinkName,
  isPage: boolean,
  asking: Asking,
  dependencies: Dependencies,
): Promise<HttpReply | undefined> {
  const linkStatus = await readAnswerLink(link, dependencies);
  if (linkStatus === 'unknown' && 'by' in link)
    return isPage
      ? inboxPage(link.by, await openQuestions(link, dependencies), asking)
      : linkText('open', asking);
  if (linkStatus === 'unknown') return undefined;
  if (!isPage) return linkText(linkStatus, asking);
  if (typeof linkStatus !== 'object') return settledPage(linkStatus, asking);
  return questionPage(await withFiles(linkStatus, link, dependencies), asking);
}

/** The question with links to its files. */
const withFiles = async <W extends Asked>(
  waiting: W,
  { scope }: LinkName,
  { options: { files } }: Dependencies,
): Promise<W> =>
  files ? { ...waiting, question: (await files.ready()).shown(waiting.question, scope) } : waiting;

/** Takes what was posted from the page of a link. Undefined if the token is that of no link. */
async function takeAnswer(
  link: LinkName,
  exchange: HttpExchange,
  requestId: string,
  asking: Asking,
  dependencies: Dependencies,
): Promise<HttpReply | undefined> {
  const posted = await readPosted(exchange, requestId, dependencies);
  const questionId = posted.get('question') ?? '';
  const read = (asked: Asked) => answerIn(posted, asked, asking.words);
  const linkStatus = await answerQuestion(link, { questionId, read }, dependencies);
  if (linkStatus === 'unknown') return undefined;
  if (typeof linkStatus === 'string') return settledPage(linkStatus, asking);
  const waiting = await withFiles(linkStatus, link, dependencies);
  if (!('errors' in linkStatus)) return questionPage(waiting, asking, { isChanged: true });
  return questionPage(waiting, asking, { refused: { posted, errors: linkStatus.errors } });
}

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
  words: PageWords,
): { readonly parts: readonly Part[] } | AnswerErrors {
  if (!form) {
    const text = (posted.get('text') ?? '').replaceAll('\r\n', '\n');
    return text.trim() === '' ? { errors: { text: 'Write an answer first' } } : { parts: [{ text }] };
  }
  const { values, errors } = readFields(fieldsOf(form.schema), (field) => {
    const texts = posted.getAll(field.id);
    return isMoment(field) ? texts.map((text) => words.moment(text)) : texts;
  });
  if (Object.keys(errors).length > 0) return { errors };
  // The form of another agent is checked by the agent that asks, with care for its schema.
  const issues = form.isOwn ? readOwnSchema(form.schema)(values) : undefined;
  if (issues)
    return { errors: Object.fromEntries(issues.map(({ path, message }) => [path, message]).reverse()) };
  // The agent asked a client without forms: it reads the values as it would read that client's data.
  if (form.isHidden) return { parts: [{ data: values }] };
  return { parts: [{ data: { formId: form.formId, values }, mediaType: FORM_TYPE }] };
}
