import { type HttpReply, toHeaders } from '@batonjs/bindings';
import { A2AError, errorTable, invalidParams } from '@batonjs/protocol/errors';
import { JSON_TYPE } from '@batonjs/protocol/headers';
import type { FileRange } from '@batonjs/store/files';
import { scopeOf } from '../../operations/call/call-context.ts';
import { toWireError } from '../../operations/call/wire-error.ts';
import { checkInputModes } from '../../operations/card/media-modes.ts';
import { checkTenant } from '../../operations/card/tenants.ts';
import { type ServerFiles, tooLarge, UPLOADS } from '../../turns/files/server-files.ts';
import type { AnsweringParts } from '../calls/answer-call.ts';
import { REQUEST_ID, requestIdOf } from '../calls/call-target.ts';
import { admittedCaller } from '../calls/caller-limits.ts';
import { refusal } from '../http/refusal.ts';
import { type Handle, type HttpExchange, lost } from '../http/request-body.ts';

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

/**
 * Stores the body as a file of the caller, and answers with the part that names it in a message: `url` is a link. The query
 * says `filename`, `mediaType` and `tenant`. Nothing is kept of a body that ends too early.
 */
async function upload(exchange: HttpExchange, parts: AnsweringParts, files: ServerFiles): Promise<HttpReply> {
  const { query, headers, bytes } = exchange;
  const { admission, tenants, dependencies } = parts;
  const { isOpen, options, card } = dependencies;
  const caller = await admittedCaller(exchange, admission);
  const tenant = query.get('tenant') ?? undefined;
  await checkTenant(tenant, caller, tenants);
  if (!isOpen()) throw new A2AError('UNAVAILABLE', 'The server is closing', { retryAfter: 1 });
  const filename = query.get('filename') || undefined;
  const mediaType = query.get('mediaType') || undefined;
  if (`${filename}`.length > 256 || `${mediaType}`.length > 256)
    throw invalidParams([{ field: 'filename, mediaType', description: 'have at most 256 characters' }]);
  const about = { url: '', ...(filename && { filename }), ...(mediaType && { mediaType }) };
  checkInputModes(card, { parts: [about] });
  const length = Number(headers['content-length'] ?? -1);
  const { uploadBytes: maxBytes } = files.options;
  if (length > maxBytes) throw tooLarge(maxBytes);
  if (!bytes || !/^(identity)?$/i.test(headers['content-encoding'] ?? ''))
    throw new A2AError('UNSUPPORTED_MEDIA_TYPE', 'An upload is the bytes of a file as they are');
  const scope = scopeOf(options.queue, tenant, caller);
  const file = await files
    .save(scope, UPLOADS, bytes(), { maxBytes, length })
    .catch((error) => lost(error, dependencies.logger, { path: '/files' }));
  await files.ready();
  const body = JSON.stringify(files.partFor(scope, file, about));
  return { status: 201, headers: { 'content-type': JSON_TYPE }, body };
}

/** Kinds that a browser shows without running anything. */
const shownKinds =
  /^(text\/plain|image\/(png|jpeg|gif|webp|bmp|avif)|audio\/(mpeg|ogg|wav|webm)|video\/(mp4|ogg|webm))$/;

/** Kinds that a browser may run, or that may name a program. */
const activeKinds = /html|xml|svg|script|wasm|pdf|multipart|x-mixed/;

/** Answers with the file of a link, or with the range of it that is asked for. Spec: RFC 9110 §13.2.2, §14. */
async function download(
  token: string,
  { method, headers }: HttpExchange,
  files: ServerFiles,
): Promise<HttpReply> {
  const file = await files.linked(token);
  if (!file) return refusal(404, 'There is no such file, or its link has expired');
  const [key, size, sha256, mediaType, filename] = file;
  const etag = `"${sha256}"`;
  const about = { ...safeHeaders(mediaType, filename), etag };
  const known = headers['if-none-match']?.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  if (known?.some((tag) => tag === etag || tag === '*')) return { status: 304, headers: about };
  const isGet = method === 'GET';
  const range = isGet && (headers['if-range'] ?? etag) === etag ? rangeIn(headers.range, size) : undefined;
  if (range && range.start >= range.end)
    return refusal(416, 'The file has no such range', { 'content-range': `bytes */${size}` });
  const bytes = await files.open(key, isGet ? range : { start: 0, end: 0 });
  if (!bytes) return refusal(404, 'The file was deleted');
  const { start, end } = range ?? { start: 0, end: size };
  return {
    status: range ? 206 : 200,
    headers: {
      ...about,
      'content-length': `${end - start}`,
      ...(range && { 'content-range': `bytes ${start}-${end - 1}/${size}` }),
    },
    ...(isGet && { bytes }),
  };
}

/**
 * The one range that is asked for, empty if the file has none of it; undefined for the whole file, as for several ranges and
 * for what cannot be read.
 */
function rangeIn(header: string | undefined, size: number): FileRange | undefined {
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(header?.trim() ?? '') ?? [];
  if (first === '') return last === '' ? undefined : { start: Math.max(0, size - Number(last)), end: size };
  const start = Number(first);
  if (last === '') return { start, end: size };
  return Number(last) < start ? undefined : { start, end: Math.min(size, Number(last) + 1) };
}

/** Nothing that others sent runs in the origin of the agent. */
function safeHeaders(mediaType: string, filename: string): HttpReply['headers'] {
  const kind = mediaType.split(';', 1)[0]!.trim().toLowerCase();
  const isSafe = /^[\w.+-]+\/[\w.+-]+$/.test(kind) && !activeKinds.test(kind);
  const isShown = shownKinds.test(kind);
  const charset = kind === 'text/plain' ? '; charset=utf-8' : '';
  return {
    'content-type': isSafe ? kind + charset : 'application/octet-stream',
    'content-disposition': `${isShown ? 'inline' : 'attachment'}${namedAs(filename)}`,
    'content-security-policy': "sandbox; default-src 'none'",
    'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': isShown ? 'cross-origin' : 'same-origin',
    'referrer-policy': 'no-referrer',
    'accept-ranges': 'bytes',
    'cache-control': 'private, no-store, no-transform',
  };
}

/** The name for `Content-Disposition`: in ASCII, and exactly. Spec: RFC 6266 §4.3, RFC 8187. */
function namedAs(filename: string): string {
  const name = [...filename.toWellFormed().replaceAll(/[\p{Cc}/\\]/gu, '_')].slice(0, 200).join('');
  if (name === '') return '';
  const exact = encodeURIComponent(name).replaceAll(/['()*]/g, (one) => `%${one.charCodeAt(0).toString(16)}`);
  return `; filename="${name.replaceAll(/[^\x20-\x7e]|["%]/gu, '_')}"; filename*=UTF-8''${exact}`;
}
