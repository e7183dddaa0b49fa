import { readdirSync, readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { extname, join } from 'node:path';
import { namesThisMachine } from '@batonjs/server/adapter';

/** What the chat is served with. */
export interface ServedChat {
  /** The folder of the built page. */
  readonly folder?: string;
  /** The address of the agent, from that of the page. */
  readonly agent: string;
  /** Kills this process, which its parent starts again. Without it, the page has no red button. */
  readonly kill?: (() => void) | undefined;
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

const headers = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' blob: data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/** Where `pnpm start` builds the page. */
const builtPage = join(import.meta.dirname, '../dist/app');

/**
 * Serves the page below a mount: a request listener, and middleware of Express. `POST kill` is taken only from the page
 * itself: with a header that pages of other origins may not send, and under a name of this machine.
 */
export function serveChat({ folder = builtPage, agent, kill }: ServedChat) {
  let files: ReadonlyMap<string, Buffer> | undefined;
  return (request: IncomingMessage, response: ServerResponse, next?: () => void): void => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    files ??= readFiles(folder);
    const body = files.get(pathname === '/' ? '/index.html' : pathname);
    if (request.method === 'POST' && pathname === '/kill') killed(request, response, kill);
    else if (request.method !== 'GET') refused(response, 405);
    else if (pathname === '/settings.json') {
      const settings = JSON.stringify({ agent, canKill: kill !== undefined });
      response.writeHead(200, { ...headers, 'content-type': 'application/json' }).end(settings);
    } else if (body) {
      const type = types[extname(pathname) || '.html'] ?? 'application/octet-stream';
      // The names of assets change with their content.
      const isAsset = pathname.startsWith('/assets/');
      const cached = isAsset ? 'private, max-age=31536000, immutable' : 'no-store';
      response.writeHead(200, { ...headers, 'content-type': type, 'cache-control': cached }).end(body);
    } else if (files.size === 0) refused(response, 503, 'The page is not built: `pnpm start` builds it.\n');
    else if (next) next();
    else refused(response, 404);
  };
}

function killed(request: IncomingMessage, response: ServerResponse, kill: (() => void) | undefined): void {
  const isOwn = request.headers['x-baton-chat'] === 'kill' && namesThisMachine(request.headers.host ?? '');
  if (kill && isOwn) response.writeHead(202, headers).end(() => kill());
  else refused(response, 403);
}

function refused(response: ServerResponse, status: number, why = ''): void {
  response.writeHead(status, { ...headers, 'content-type': 'text/plain; charset=utf-8' }).end(why);
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
