import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { extname, join, normalize } from 'node:path';

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};

/** Serves a file of the page, which `vite build` writes to `dist`. */
export async function servePage(path: string, response: ServerResponse): Promise<void> {
  const below = normalize(path.slice('/chat'.length) || '/');
  const name = below === '/' ? '/index.html' : below;
  const file = await readFile(join('dist', name)).catch(() => undefined);
  if (!file) response.writeHead(404).end('Not here. The script "page" builds the page.\n');
  else
    response.writeHead(200, { 'content-type': types[extname(name)] ?? 'application/octet-stream' }).end(file);
}
