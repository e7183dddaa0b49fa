import { readdirSync, readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { extname, join } from 'node:path';
import { responseHeaders } from '../guard/response-headers.ts';

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Serves the files of the built app: the page, and what lies below `assets`. Resolves whether there is such a file. */
export function serveApp(folder: string): (path: string, response: ServerResponse) => boolean {
  let files: ReadonlyMap<string, Buffer> | undefined;
  return (path, response) => {
    files ??= readFiles(folder);
    const body = files.get(path === '/' ? '/index.html' : path);
    if (!body && path === '/') return sendMissing(response);
    if (!body) return false;
    response.writeHead(200, {
      ...responseHeaders,
      'content-type': types[extname(path) || '.html'] ?? 'application/octet-stream',
      'content-length': body.length,
      // The names of assets change with their content.
      'cache-control': path.startsWith('/assets/') ? 'private, max-age=31536000, immutable' : 'no-store',
    });
    response.end(body);
    return true;
  };
}

function readFiles(folder: string): ReadonlyMap<string, Buffer> {
  const files = new Map<string, Buffer>();
  try {
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const file = join(entry.parentPath, entry.name);
      files.set(file.slice(folder.length).replaceAll('\\', '/'), readFileSync(file));
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
