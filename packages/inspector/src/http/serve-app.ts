import { readdirSync, readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { responseHeaders } from './reply.ts';

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
