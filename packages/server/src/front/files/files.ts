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
import { type Handle, type HttpExchange, lost, refusal } from '../http/request-body.ts';
import { answerUpload, begin, bytesIn, namesIn, tusOffer, tusVersion, type Uploads } from './resumable.ts';

/**
 * Serves files at any path that ends in `/files/` and a token, and takes uploads at one that ends in `/files`, which go on at
 * their id. The token is the credential of a download, and stands in no log.
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
    const tus = isResumable(token, exchange) && tusVersion;
    const headers = { 'cache-control': 'no-store', ...tus, ...reply.headers, [REQUEST_ID]: requestId };
    return { ...reply, headers };
  };
}

/** The form of the id of an upload. No token has it. */
const uploadId = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

/** Whether a request is one of tus, or should be. */
const isResumable = (token = '', { method, headers }: HttpExchange): boolean =>
  uploadId.test(token) || method === 'OPTIONS' || !!(headers['tus-resumable'] ?? headers['upload-length']);

async function answer(
  token: string | undefined,
  exchange: HttpExchange,
  parts: AnsweringParts,
  files: ServerFiles,
): Promise<HttpReply> {
  if (exchange.refusal) throw exchange.refusal;
  const isTus = isResumable(token, exchange);
  const { 'x-http-method-override': override, 'tus-resumable': version } = exchange.headers;
  const method = (isTus && exchange.method === 'POST' && override?.toUpperCase()) || exchange.method;
  if (method === 'OPTIONS') return { status: 204, headers: tusOffer(files) };
  const isUpload = uploadId.test(token ?? '');
  const allow = token === undefined ? 'POST' : isUpload ? 'GET, HEAD, PATCH, DELETE' : 'GET, HEAD';
  if (!allow.split(', ').includes(method)) return refusal(405, `Here is only ${allow}`, { allow });
  if (token !== undefined && !isUpload) return download(token, exchange, files);
  if (isTus && method !== 'GET' && version !== tusVersion['tus-resumable'])
    return refusal(412, 'The header `Tus-Resumable` must be 1.0.0', tusOffer(files));
  const { admission, tenants, dependencies } = parts;
  const caller = await admittedCaller(exchange, admission);
  const tenant = exchange.query.get('tenant') ?? undefined;
  await checkTenant(tenant, caller, tenants);
  if (!dependencies.isOpen()) throw new A2AError('UNAVAILABLE', 'The server is closing', { retryAfter: 1 });
  const of = { files, scope: scopeOf(dependencies.options.queue, tenant, caller), sources: dependencies };
  return token === undefined ? upload(of, exchange) : answerUpload(of, token, { ...exchange, method });
}

/**
 * Stores the body as a file of the caller, and answers with the part that names it in a message: `url` is a link. The query
 * says `filename`, `mediaType` and `tenant`. Nothing is kept of a body that ends too early, but of an upload by tus.
 */
async function upload(of: Uploads, exchange: HttpExchange): Promise<HttpReply> {
  const { files, scope, sources } = of;
  const { query, headers } = exchange;
  const named = namesIn(headers['upload-metadata']);
  const filename = query.get('filename') || named.filename;
  const mediaType = query.get('mediaType') || named.mediaType;
  if (`${filename}`.length > 256 || `${mediaType}`.length > 256)
    throw invalidParams([{ field: 'filename, mediaType', description: 'have at most 256 characters' }]);
  const about = { url: '', ...(filename && { filename }), ...(mediaType && { mediaType }) };
  checkInputModes(sources.card, { parts: [about] });
  if (isResumable(undefined, exchange)) return begin(of, exchange, about);
  const length = Number(headers['content-length'] ?? -1);
  const { uploadBytes: maxBytes } = files.options;
  if (length > maxBytes) throw tooLarge(maxBytes);
  const file = await files
    .save(scope, UPLOADS, bytesIn(exchange), { maxBytes, length })
    .catch((error) => lost(error, sources.logger, { path: '/files' }));
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
