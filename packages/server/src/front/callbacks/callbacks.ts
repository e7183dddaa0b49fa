import { type HttpReply, toHeaders } from '@batonjs/bindings';
import { A2AError, errorTable } from '@batonjs/protocol/errors';
import { isJsonType, JSON_TYPE, mediaTypeOf } from '@batonjs/protocol/headers';
import { describeIssues } from '@batonjs/protocol/json-schema';
import { bucketOf } from '../../base/caller-rate.ts';
import type { Dependencies } from '../../operations/call/dependencies.ts';
import { toWireError } from '../../operations/call/wire-error.ts';
import {
  type CallbackOutcome,
  receiveCallback,
  signedToken,
} from '../../operations/callbacks/receive-callback.ts';
import { REQUEST_ID, requestIdOf } from '../calls/request-id.ts';
import type { Handle, HttpExchange } from '../http/http-exchange.ts';
import { refusal } from '../http/refusal.ts';
import { readBody } from '../http/request-body.ts';
import { messagePage, settledPage } from '../pages/answer-page.ts';
import { isForm, showLink, takeAnswer } from './answer-links.ts';

/**
 * Takes the values of callbacks, and the answers of people to questions, at any path that ends in `/callbacks/` and a token. The token is the credential: it is
 * looked at before any other part of the server, and stands in no log, span or answer.
 */
export function withCallbacks(handle: Handle, dependencies: Dependencies): Handle {
  if (!dependencies.options.callbacks) return handle;
  return async (exchange) => {
    const token = tokenIn(exchange.path);
    if (token === undefined) return handle(exchange);
    const requestId = requestIdOf(exchange.headers, dependencies.clock);
    const reply = await answer(token, { ...exchange, path: shownPath }, requestId, dependencies);
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
): Promise<HttpReply> {
  const { method, path } = exchange;
  const isPage = isForPerson(exchange);
  const { name } = dependencies.card;
  try {
    if (!/^(POST|GET|HEAD)$/.test(method)) return notAllowed;
    if (exchange.refusal) throw exchange.refusal;
    if (!dependencies.isOpen()) throw new A2AError('UNAVAILABLE', 'The server is closing', { retryAfter: 1 });
    const token = await signedToken(text, dependencies.options);
    if (!token) return unsignedReply(exchange, name);
    await count(exchange, dependencies);
    if (method !== 'POST') {
      const shown = await showLink(token, isPage, dependencies);
      const page = shown ?? (isPage ? settledPage('unknown', name) : notAllowed);
      return method === 'HEAD' ? withoutBody(page) : page;
    }
    if (isPage) return (await takeAnswer(token, exchange, requestId, dependencies)) ?? noLink(exchange, name);
    const value = await readValue(exchange, requestId, dependencies);
    return replyOf(await receiveCallback(token, value, dependencies));
  } catch (error) {
    const wire = toWireError(error, dependencies.logger, { requestId, method, path });
    const code = errorTable[wire.reason].http;
    const reply = isPage
      ? messagePage('That did not work', `${wire.message}.`, { status: code, agent: name })
      : refusal(code, wire.message);
    return { ...reply, headers: { ...reply.headers, ...toHeaders(wire) } };
  }
}

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

const noLink = (exchange: HttpExchange, agent: string): HttpReply =>
  !takesPages(exchange) ? refusal(415, `A callback takes ${JSON_TYPE}`) : settledPage('unknown', agent);

/** The answer to a token that this store did not sign. */
function unsignedReply(exchange: HttpExchange, agent: string): HttpReply {
  if (!isForPerson(exchange)) return exchange.method === 'POST' ? replyOf('unknown') : notAllowed;
  const page = noLink(exchange, agent);
  return exchange.method === 'HEAD' ? withoutBody(page) : page;
}

const withoutBody = ({ status, headers }: HttpReply): HttpReply => ({ status, headers });

const notAllowed = refusal(405, 'A callback takes a POST', { allow: 'POST' });
