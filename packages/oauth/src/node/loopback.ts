import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Authorize, OAuthError } from '../options.ts';

/** Options of `loopback`. */
export interface LoopbackOptions {
  /** Opens the authorization page, such as in the browser, or prints its address. If it fails, so does the flow. */
  readonly open: (url: URL) => unknown;
  /** Default 0: any free port, which authorization servers must accept for loopback addresses. RFC 8252 §7.3. */
  readonly port?: number | undefined;
  /** Default `/callback`. */
  readonly path?: string | undefined;
  /** Milliseconds that the person has. Default 300,000. */
  readonly timeoutMs?: number | undefined;
  /** The page that the person sees at the end, as HTML. */
  readonly page?: string | undefined;
}

const defaultPage = '<!doctype html><title>Done</title><p>You can close this window.</p>';

/**
 * Receives the redirect of the authorization code flow at `http://127.0.0.1`, for programs of Node.js: pass it as
 * `authorize` to `oauth`. It listens while a flow runs, and answers nothing but the redirect of this flow. Rejects with
 * `REFUSED` when the time is over. RFC 8252 §7.3.
 */
export const loopback =
  ({
    open,
    port = 0,
    path = '/callback',
    timeoutMs = 300_000,
    page = defaultPage,
  }: LoopbackOptions): Authorize =>
  async (begin) => {
    const server = createServer().listen(port, '127.0.0.1');
    await once(server, 'listening');
    try {
      const redirectUri = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
      const url = await begin(redirectUri);
      const redirected = redirectTo(server, redirectUri, url.searchParams.get('state'), timeoutMs, page);
      const opened = async () => {
        await open(url);
        return redirected;
      };
      // Some commands that open a browser end only when the person closes it.
      return await Promise.race([redirected, opened()]);
    } finally {
      server.close();
      server.closeAllConnections();
    }
  };

const redirectTo = (
  server: Server,
  redirectUri: string,
  state: string | null,
  timeoutMs: number,
  page: string,
): Promise<URL> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new OAuthError('REFUSED', `No redirect arrived within ${timeoutMs} ms`)),
      timeoutMs,
    );
    server.on('close', () => clearTimeout(timer));
    server.on('request', (request, response) => {
      const target = new URL(redirectUri);
      const url = URL.canParse(request.url ?? '', target) ? new URL(request.url ?? '', target) : undefined;
      // Any page in the browser can send requests here: only the right state ends the flow.
      const isOurs = request.method === 'GET' && url?.pathname === target.pathname;
      if (!isOurs || url.origin !== target.origin || url.searchParams.get('state') !== state) {
        response.writeHead(404, { connection: 'close' }).end();
        return;
      }
      response.writeHead(200, {
        connection: 'close',
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-store',
        'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
        'referrer-policy': 'no-referrer',
      });
      response.end(page, () => resolve(url));
    });
  });
