import { type HttpReply, toHeaders } from '@batonjs/bindings';
import { errorTable } from '@batonjs/protocol/errors';
import { toWireError } from '../../operations/call/wire-error.ts';
import type { ServerFiles } from '../../turns/files/server-files.ts';
import type { AnsweringParts } from '../calls/answer-call.ts';
import { REQUEST_ID, requestIdOf } from '../calls/call-target.ts';
import { refusal } from '../http/refusal.ts';
import type { Handle, HttpExchange } from '../http/request-body.ts';
import { download } from './download.ts';
import { upload } from './upload.ts';

/**
 * Serves files at any path that ends in `/files/` and a token, and takes uploads at one that ends in `/files`. The token is
 * the credential of a download, and stands in no log.
 */
export function withFiles(handle: Handle, parts: AnsweringParts): Handle {
  const { logger, clock, options } = parts.dependencies;
  const { files } = options;
  if (!files) return handle;
  return async (exchange) => {
    const [path, token] = /\/files(?:\/([\w-]+))?$/.exec(exchange.path) ?? [];
    if (path === undefined) return handle(exchange);
    const requestId = requestIdOf(exchange.headers, clock);
    const reply = await answer(token, exchange, parts, files).catch((error): HttpReply => {
      const { method } = exchange;
      const wire = toWireError(error, logger, { requestId, method, path: '/files/…' });
      const status = wire.reason === 'CONTENT_TYPE_NOT_SUPPORTED' ? 415 : errorTable[wire.reason].http;
      return refusal(status, wire.message, toHeaders(wire));
    });
    return { ...reply, headers: { 'cache-control': 'no-store', ...reply.headers, [REQUEST_ID]: requestId } };
  };
}

async function answer(
  token: string | undefined,
  exchange: HttpExchange,
  parts: AnsweringParts,
  files: ServerFiles,
): Promise<HttpReply> {
  const allow = token === undefined ? 'POST' : 'GET, HEAD';
  if (exchange.refusal) throw exchange.refusal;
  if (!allow.split(', ').includes(exchange.method)) return refusal(405, `Here is only ${allow}`, { allow });
  return token === undefined ? upload(exchange, parts, files) : download(token, exchange, files);
}
