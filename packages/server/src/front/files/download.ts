import type { HttpReply } from '@batonjs/bindings';
import type { FileRange } from '@batonjs/store/files';
import type { ServerFiles } from '../../turns/files/server-files.ts';
import { refusal } from '../http/refusal.ts';
import type { HttpExchange } from '../http/request-body.ts';

/** Kinds that a browser shows without running anything. */
const shownKinds =
  /^(text\/plain|image\/(png|jpeg|gif|webp|bmp|avif)|audio\/(mpeg|ogg|wav|webm)|video\/(mp4|ogg|webm))$/;

/** Kinds that a browser may run, or that may name a program. */
const activeKinds = /html|xml|svg|script|wasm|pdf|multipart|x-mixed/;

/** Answers with the file of a link, or with the range of it that is asked for. Spec: RFC 9110 §13.2.2, §14. */
export async function download(
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
