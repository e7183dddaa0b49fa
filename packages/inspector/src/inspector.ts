import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { isLoopbackAddress } from '@batonjs/bindings';
import { PriceTable } from '@batonjs/server/internals';
import { activityOf } from './activity.ts';
import { type Action, actions } from './api/agent.ts';
import { ClientRequests } from './clients/client-requests.ts';
import { accessToken, checkRequest } from './guard/check-request.ts';
import { problemOf, RequestError, readJson, sendJson, sendProblem, serveApp } from './http/reply.ts';
import { router } from './http/router.ts';
import { Inspection, isAllowed } from './inspection.ts';
import { linksOf } from './links.ts';
import type { InspectorOptions, Target, Viewer } from './options.ts';
import { actRoutes } from './routes/act-routes.ts';
import { linkRoutes } from './routes/link-routes.ts';
import { lookRoutes } from './routes/look-routes.ts';
import { ANSWERED, type Route } from './routes/route.ts';
import { scheduleRoutes } from './routes/schedule-routes.ts';
import { withoutSecrets } from './wire/secrets.ts';

/** A handler of `node:http`, which Express takes too: `app.use('/inspector', inspector({ server }))`. */
export interface Inspector {
  (request: IncomingMessage, response: ServerResponse, next?: (error?: unknown) => void): void;
  /** The address for a browser, with the token, for an inspector that is mounted at `url`. */
  addressAt(url: string): string;
  /** Stops following tasks, and forgets the requests of clients. Stores and servers stay open. */
  close(): void;
}

/** An action that a route asked leave for. */
type Asked = { readonly action?: Action; readonly target?: Target };

/** How often it is looked whether a link is over, in milliseconds, while it is answered. */
const lookEveryMs = 2_000;
/** The largest body with the secret of a link, in bytes. */
const mostSecretBytes = 300;

/** What an adapter in front may have left on a request. */
type Incoming = IncomingMessage & { readonly baseUrl?: string; readonly originalUrl?: string };

/** Serves the app from `appFolder`, as {@link inspector} does from its own. */
export function createInspector(options: InspectorOptions, appFolder: string): Inspector {
  const { authenticate, allow = [], hosts = [], kill, traceUrl, modelPrices } = options;
  if (traceUrl !== undefined) mustBeTraceUrl(traceUrl);
  const prices = modelPrices && new PriceTable(modelPrices, 'modelPrices');
  const single = options.server || options.store || options.url ? [options] : [];
  const inspection = new Inspection(options.agents ?? single);
  const clientRequests = options.clientRequests
    ? new ClientRequests(options.clientRequests === true ? {} : options.clientRequests, inspection.servers)
    : undefined;
  const token = authenticate ? undefined : accessToken(options.token);
  const files = serveApp(appFolder);
  const routes = router<Route>({ ...lookRoutes, ...linkRoutes, ...scheduleRoutes, ...actRoutes });
  const process = crypto.randomUUID();
  const { agents } = inspection;
  const { store } = agents.find((agent) => agent.store) ?? {};
  const activity = activityOf(options.onAction, store);
  const shows = agents.map(({ id, store, options: { url, callers } }) => [id, store?.queue, url, callers]);
  const links = linksOf(store?.tasks, shows, !authenticate);
  const hideAll = (json: string) => withoutSecrets(inspection.hide(json));

  async function viewerOf(request: IncomingMessage, path: string, query: URLSearchParams) {
    if (token) return token.isIn(request.headers.authorization) ? { may: allow } : undefined;
    const headers = Object.entries(request.headers).map(([name, value]) => [name, [value].flat().join(', ')]);
    return authenticate!({
      method: request.method ?? 'GET',
      path,
      query,
      headers: Object.fromEntries(headers),
    });
  }

  /** Notes what was done, and how it ended. */
  async function recorded<T>(asked: Promise<T>, done: Asked, { name }: Viewer): Promise<T> {
    const note = async (made?: string, error?: unknown) => {
      if (!done.action) return;
      const { action, target: { agent, taskId = made } = {} } = done;
      const problem = error === undefined ? undefined : problemOf(error).message;
      const record = { at: new Date().toISOString(), by: name, action, agent, taskId, problem };
      await activity.add(record, inspection.hide, error instanceof RequestError && error.status === 403);
    };
    const result = await asked.catch(async (error: unknown) => {
      await note(undefined, error);
      throw error;
    });
    const { taskId }: { taskId?: string } = Object(result);
    await note(taskId);
    return result;
  }

  async function answer(request: Incoming, response: ServerResponse): Promise<void> {
    checkRequest(request, hosts, !authenticate);
    const { pathname, searchParams: query } = new URL(request.url ?? '/', 'http://inspector');
    const mount = request.baseUrl ?? '';
    if (mount !== '' && request.originalUrl?.split('?')[0] === mount)
      return void response.writeHead(308, { location: `${mount}/` }).end();
    const isApi = pathname.startsWith('/api/');
    if (
      !isApi &&
      request.method === 'GET' &&
      files(pathname, response, String(request.headers['accept-encoding'] ?? ''))
    )
      return;
    if (!isApi) throw new RequestError(404, `There is nothing at ${pathname}`);
    const own = await viewerOf(request, pathname, query);
    const { cookie, origin } = request.headers;
    if (request.method === 'POST' && pathname === '/api/look') {
      const { secret } = Object(own ?? (await readJson(request, mostSecretBytes))) as { secret?: unknown };
      // Who is let in anyway does not use a link up.
      if (!own) response.setHeader('set-cookie', await links.open(secret, /^https:/.test(origin ?? '')));
      return sendJson(response, 200, {});
    }
    const viewer = own ?? (await links.viewerOf(cookie));
    if (!viewer)
      throw new RequestError(401, token ? 'The token is missing or wrong' : 'You may not use the inspector');
    if (!own && (request.method !== 'GET' || pathname.endsWith('/wire')))
      throw new RequestError(403, 'A link shows agents and tasks: it does not act, and shows no requests');
    // A feed is long: it ends with its link. Of who has left already, no end is told.
    if (!own && !response.destroyed) {
      const look = () => links.viewerOf(cookie).catch(() => response.destroy());
      const timer = setInterval(() => void look(), lookEveryMs);
      response.on('close', () => clearInterval(timer));
    }
    const hide = own ? inspection.hide : hideAll;
    const found = routes.find(request.method ?? 'GET', pathname.slice('/api'.length));
    if (!found) throw new RequestError(404, `There is nothing at ${request.method} ${pathname}`);
    const done: Asked = {};
    const asked = found.target({
      request,
      response,
      params: { agent: '', task: '', ...found.params },
      query,
      viewer,
      inspection,
      activity,
      links,
      hide,
      clientRequests,
      process,
      traceUrl,
      prices,
      kill: isLoopbackAddress(request.socket.remoteAddress) ? kill : undefined,
      body: async () => Object(await readJson(request)) as Readonly<Record<string, unknown>>,
      async permit(action, target = {}) {
        Object.assign(done, { action, target });
        if (await isAllowed(viewer, action, target)) return;
        throw new RequestError(403, `This inspector does not allow you to ${actions[action][0]}`);
      },
    });
    const result = await recorded(asked, done, viewer);
    if (result !== ANSWERED) sendJson(response, 200, result, hide);
  }

  const handler = (request: IncomingMessage, response: ServerResponse): void => {
    answer(request, response).catch((error: unknown) => sendProblem(response, error, hideAll));
  };
  return Object.assign(handler, {
    addressAt: (url: string) => `${url.replace(/(?<!\/)\/+$/, '')}/${token ? `#token=${token.text}` : ''}`,
    close() {
      clientRequests?.close();
      inspection.close();
    },
  });
}

function mustBeTraceUrl(traceUrl: string): void {
  const { protocol } = URL.parse(traceUrl) ?? {};
  if ((protocol === 'http:' || protocol === 'https:') && traceUrl.includes('{traceId}')) return;
  throw new TypeError('`traceUrl` must be an absolute http or https URL that contains {traceId}');
}

/**
 * Shows agents and their tasks in a browser, and lets those who may drive them. Without `authenticate`, only this machine
 * is served, and only to holders of the token in `addressAt`. Throws `TypeError` for options that name no agent, and for
 * prices or a `traceUrl` that cannot be meant so.
 */
export function inspector(options: InspectorOptions): Inspector {
  // The same folder from the sources and from the build.
  return createInspector(options, join(import.meta.dirname, '..', 'dist', 'app'));
}
