import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { ClientError } from '@batonjs/client';
import { A2AError } from '@batonjs/protocol/errors';
import { JSON_TYPE, mediaTypeOf } from '@batonjs/protocol/headers';
import { readText, tryJson } from '@batonjs/protocol/json';
import type { Problem } from '../api/command.ts';

/** An error that the app shows as it is, with the status of its reply. */
export class RequestError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Takes secrets out of JSON where there are any. */
const asItIs = (json: string): string => json;

/** Answers with JSON. */
export function sendJson(response: ServerResponse, status: number, value: unknown, hide = asItIs): void {
  const body = hide(JSON.stringify(value));
  response.writeHead(status, {
    ...responseHeaders,
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
  });
  response.end(body);
}

/** Answers with an error. Errors of agents are passed on; those of the inspector itself are not shown. */
export function sendProblem(response: ServerResponse, error: unknown, hide = asItIs): void {
  if (response.headersSent) return void response.destroy();
  sendJson(response, error instanceof RequestError ? error.status : 502, { problem: problemOf(error) }, hide);
}

/** An error as the app shows it. */
export function problemOf(error: unknown): Problem {
  if (error instanceof RequestError) return { message: error.message };
  if (A2AError.is(error)) {
    const { message, reason, metadata, challenge } = error;
    return { message, code: reason, ...(metadata || challenge ? { details: { metadata, challenge } } : {}) };
  }
  if (ClientError.is(error)) {
    const cause = error.cause instanceof Error ? error.cause.message : undefined;
    return { message: error.message, code: error.code, ...(cause && { details: { cause } }) };
  }
  const { name, code } = Object(error) as { name?: string; code?: string };
  if (name === 'StoreError') return { message: (error as Error).message, code };
  return { message: 'The inspector failed', code: 'INTERNAL_ERROR' };
}

/** How often an idle feed sends an empty line, in milliseconds: a proxy closes silent connections. */
const heartbeatMs = 10_000;

/** Answers with a feed: one JSON value per line, as fast as the browser reads. The signal aborts when it leaves. */
export async function streamLines(
  response: ServerResponse,
  feed: (signal: AbortSignal) => AsyncIterable<unknown>,
  hide = asItIs,
): Promise<void> {
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  // The browser left before the feed began: `close` was emitted already.
  if (response.destroyed) return;
  response.writeHead(200, {
    ...responseHeaders,
    'content-type': 'application/x-ndjson; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  });
  response.write('\n');
  const heartbeat = setInterval(() => response.write('\n'), heartbeatMs);
  try {
    for await (const value of feed(gone.signal)) {
      if (gone.signal.aborted) break;
      if (!response.write(`${hide(JSON.stringify(value))}\n`))
        await once(response, 'drain', { signal: gone.signal }).catch(() => {});
    }
  } finally {
    clearInterval(heartbeat);
    response.end();
  }
}

/** A whole number of the query; undefined without one. Throws a `RequestError` for anything else. */
export function readNumber(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new RequestError(400, `${name} must be a whole number`);
}

/** The largest body of a request in bytes: a message with a file or two. */
const maxBytes = 24 * 1024 * 1024;

type Incoming = IncomingMessage & { readonly body?: unknown };

/** The body of a request as JSON. A parser of the framework may have read it. Rejects with a `RequestError`. */
export async function readJson(request: Incoming, most = maxBytes): Promise<unknown> {
  if (mediaTypeOf(request.headers['content-type']) !== JSON_TYPE)
    throw new RequestError(415, 'The body must be JSON');
  if (request.readableEnded) return request.body;
  // The connection stays open for the answer that refuses the rest.
  const text = await readText(request.iterator({ destroyOnReturn: false }), most);
  if (text === undefined) throw new RequestError(413, `The body has more than ${most} bytes`);
  const value = tryJson(text);
  if (value === undefined) throw new RequestError(400, 'The body is no JSON');
  return value;
}

/**
 * The headers of every response. Scripts, styles, fonts and requests come from the inspector alone; pictures and sounds are
 * made in the page from what the inspector sent. No script and no style stands in the page itself.
 */
export const responseHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "font-src 'self'",
    "img-src 'self' blob:",
    'media-src blob:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types dompurify',
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

/** A file of the app as it is, and compressed with gzip once a browser asked for that. */
interface AppFile {
  readonly plain: Buffer;
  packed?: Buffer;
}

/**
 * Serves the files of the built app: the page, and what lies below `assets`, with gzip for those who accept it. Returns
 * whether there is such a file.
 */
export function serveApp(
  folder: string,
): (path: string, response: ServerResponse, acceptEncoding?: string) => boolean {
  let files: ReadonlyMap<string, AppFile> | undefined;
  return (path, response, acceptEncoding = '') => {
    files ??= readFiles(folder);
    const file = files.get(path === '/' ? '/index.html' : path);
    if (!file && path === '/') return sendMissing(response);
    if (!file) return false;
    const type = types[extname(path) || '.html'] ?? 'application/octet-stream';
    const isPacked = isText(type) && /(^|[\s,])(gzip|\*)(?!\s*;\s*q=0(\.0*)?\s*(,|$))/i.test(acceptEncoding);
    const body = isPacked ? packed(file) : file.plain;
    response.writeHead(200, {
      ...responseHeaders,
      'content-type': type,
      'content-length': body.length,
      vary: 'accept-encoding',
      ...(isPacked && { 'content-encoding': 'gzip' }),
      // The names of assets change with their content.
      'cache-control': path.startsWith('/assets/') ? 'private, max-age=31536000, immutable' : 'no-store',
    });
    response.end(body);
    return true;
  };
}

/** Fonts are compressed already. */
const isText = (type: string): boolean => /^text\/|svg/.test(type);

function packed(file: AppFile): Buffer {
  file.packed ??= gzipSync(file.plain, { level: 9 });
  return file.packed;
}

function readFiles(folder: string): ReadonlyMap<string, AppFile> {
  const files = new Map<string, AppFile>();
  try {
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const file = join(entry.parentPath, entry.name);
      files.set(file.slice(folder.length).replaceAll('\\', '/'), { plain: readFileSync(file) });
    }
  } catch {
    // Not built; the page says so.
  }
  return files;
}

function sendMissing(response: ServerResponse): boolean {
  response.writeHead(503, { ...responseHeaders, 'content-type': 'text/plain; charset=utf-8' });
  response.end('The app of the inspector is not built. Run `pnpm build`.\n');
  return true;
}
