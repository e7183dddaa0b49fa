import { type AgentClient, connect } from '@batonjs/client';
import { A2AError, type ErrorRow, errorTable } from '@batonjs/protocol/errors';
import { AGENT_CARD_PATH, JSON_TYPE, mediaTypeOf } from '@batonjs/protocol/headers';
import { guardHook } from '@batonjs/protocol/hooks';
import type { AgentServer, HttpExchange } from '@batonjs/server';
import {
  answerInTime,
  createFetch,
  isForeignHost,
  isLarge,
  mustKnowOptions,
  type OptionsOf,
  readBody,
  toHeaders,
  withDefaults,
} from '@batonjs/server/adapter';
import { insideOf } from '@batonjs/server/internals';
import { withHeartbeat } from './with-heartbeat.ts';

type Handle = AgentServer['handle'];
/** The answer to a request. */
export type FrontReply = Awaited<ReturnType<Handle>>;

/** The headers of a request, their names in lower case. */
export type CallerHeaders = Readonly<Record<string, string | undefined>>;

/**
 * The agent behind a protocol for front ends. A server of this process sees the headers of each request, so that it
 * authenticates its callers itself. A client has the same credentials for all of them; a function chooses the client of
 * a caller within 5 s, or throws an `A2AError` such as `UNAUTHENTICATED`.
 */
export type FrontAgent =
  | Pick<AgentServer, 'fetch' | 'handle'>
  | AgentClient
  | ((headers: CallerHeaders) => AgentClient | Promise<AgentClient>);

/** A request of a front end. */
export interface Asked {
  readonly method: string;
  /** The segments of the path below the mount, decoded; none for the mount itself. */
  readonly path: readonly string[];
  readonly headers: CallerHeaders;
  /** The agent, with the credentials of this caller. */
  readonly agent: AgentClient;
  /** Options for calls of the agent: a stream of a server of this process ends when the server closes. */
  readonly follow: { readonly signal: AbortSignal; readonly followForMs?: number };
  /** Aborted when the client leaves, or the handler closes. */
  readonly signal: AbortSignal;
  /** Whether the handler closes, which is no fault of the client. */
  isClosing(): boolean;
  /** Tells the program of an error that is no fault of the caller. */
  onError(error: unknown): void;
  /** The error for a path, below the mount, at which nothing is. */
  notFound(): A2AError;
  /** The JSON of the body. Throws `UNSUPPORTED_MEDIA_TYPE`, `PAYLOAD_TOO_LARGE` and `PARSE_ERROR`. */
  json(): Promise<unknown>;
}

/** A protocol for front ends, mounted as an agent is. */
export interface FrontDoor {
  /** The handler that adapters of HTTP frameworks call: `nodeHandler`, `a2aExpress`, `a2aFastify` and `a2aHono` take it. */
  readonly handle: Handle;
  /** The web-standard handler. The request's path begins with the option `path`, or below it. */
  fetch(request: Request): Promise<Response>;
  /** Ends all streams. Tasks go on. */
  close(): Promise<void>;
}

/** The most values of a body: as many as a server reads by default. */
const maxValues = 100_000;

/** Writes an error to standard error, where no `onError` is given. */
export const logError = (error: unknown): void =>
  console.error('[baton] A front end was not answered', error);

/** The options of every front door, with their defaults. */
const frontDoorOptions = {
  /**
   * The path at which `fetch` is mounted, such as `/api/chat` in an app of Next.js. Default `/`. Adapters of frameworks know
   * theirs.
   */
  path: '/',
  /** The most bytes of a request, which has all messages of a conversation. Default 4,194,304 (4 MiB). */
  bodyBytes: 4_194_304,
  /** Sees the errors that are no fault of the caller. Default: they are written to standard error. */
  onError: logError,
};

/** Options of every front door. */
export type FrontDoorOptions = OptionsOf<typeof frontDoorOptions>;

/**
 * Makes a handler of `answer`. Its errors become replies whose body is JSON or, for front ends that show it as it is, the
 * sentence alone. Throws `TypeError` for an option that it does not have.
 */
export function frontDoor(
  agent: FrontAgent,
  given: FrontDoorOptions,
  refusals: 'json' | 'text',
  answer: (asked: Asked) => Promise<FrontReply>,
): FrontDoor {
  mustKnowOptions(given, frontDoorOptions);
  const { path, bodyBytes, onError: listener } = withDefaults(frontDoorOptions, given);
  if (!(Number.isInteger(bodyBytes) && bodyBytes > 0))
    throw new RangeError(`bodyBytes is a whole number above 0, not ${bodyBytes}`);
  const onError = guardHook('onError', listener);
  const closing = new AbortController();
  const clientFor = clientsOf(agent);
  const handle: Handle = async (exchange) => {
    const signal = AbortSignal.any([exchange.signal, closing.signal]);
    try {
      if (exchange.refusal) throw exchange.refusal;
      if (closing.signal.aborted) return refusal(new A2AError('UNAVAILABLE'), () => {}, refusals);
      await checkHost(exchange, agent);
      const { client, followForMs, ask } = await clientFor(exchange);
      const reply = await answer({
        method: exchange.method,
        path: exchange.path.split('/').filter(Boolean).map(decoded),
        headers: exchange.headers,
        agent: client,
        follow: { signal, ...(followForMs !== undefined && { followForMs }) },
        signal,
        onError,
        isClosing: () => closing.signal.aborted,
        notFound: () =>
          new A2AError(
            'METHOD_NOT_FOUND',
            `Nothing answers ${exchange.method} ${exchange.path} below the mount: is its path that of the handler?`,
          ),
        json: () => readJson(exchange, bodyBytes, ask),
      });
      const { body } = reply;
      return typeof body === 'object' ? { ...reply, body: withHeartbeat(body, agent) } : reply;
    } catch (error) {
      return refusal(error, onError, refusals);
    }
  };
  return {
    handle,
    fetch: createFetch(handle, path),
    async close() {
      closing.abort();
    },
  };
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new A2AError('INVALID_PARAMS', 'The path cannot be read');
  }
}

/**
 * Refuses a page whose name leads to this machine (DNS rebinding), as a server does: it would act with the credentials of
 * the client, or as any caller of the server. Where the connection is not known, the server looks at the name itself.
 */
async function checkHost(exchange: HttpExchange, agent: FrontAgent): Promise<void> {
  const { hasForeignHost, headers } = exchange;
  if (hasForeignHost === undefined || typeof agent === 'function') return;
  if (!isForeignHost(headers.host ?? '', { own: ['localhost'], isLoopback: hasForeignHost })) return;
  if ('handle' in agent) {
    const { status } = await agent.handle({ ...exchange, method: 'GET', path: AGENT_CARD_PATH });
    if (status !== 403) return;
  } else if (!hasForeignHost) return;
  throw new A2AError(
    'PERMISSION_DENIED',
    'handle' in agent ? foreign : `${foreign}, or a function of the headers`,
  );
}

const foreign =
  'The header `Host` is not a name of this machine: for other names, serve an agent with `publicUrl` or `authenticate`';

/** Of a client: who calls was asked before, or is not asked at all. */
const asIs = { followForMs: undefined, ask: async () => {} };

/** The client of each request, and what finds out who calls before a large body is read. */
function clientsOf(agent: FrontAgent) {
  if (typeof agent !== 'function' && !('handle' in Object(agent)) && !('listTasks' in Object(agent)))
    throw new TypeError(
      'A front end talks to an agent server, a client of `connect`, or a function that gives one',
    );
  if (typeof agent === 'function') {
    const ask = answerInTime('agent', agent);
    return async ({ headers }: HttpExchange) => ({ client: await ask(headers), ...asIs });
  }
  if (!('handle' in agent)) return async () => ({ client: agent, ...asIs });
  const inside = insideOf(agent);
  // A stream of a server that closes ends at once: to try again for a minute would hold up its shutdown.
  return async ({ query, headers, remoteAddress }: HttpExchange) => {
    // The calls all have this path: `authenticate` need not know those of the front end.
    const calls = inside?.callsOf({ method: 'POST', path: '/', query, headers, remoteAddress });
    const fetch = (request: Request) => (calls ?? agent).fetch(withHeaders(request, headers));
    const { ask } = calls ?? asIs;
    return { client: await connect('http://localhost', { retry: false, fetch }), followForMs: 0, ask };
  };
}

/** Headers that belong to one connection or one body, or that the client sets itself. */
const ownHeader =
  /^(connection|content-.*|accept.*|transfer-encoding|keep-alive|te|trailer|upgrade|expect|last-event-id|origin|referer|sec-.*|a2a-.*)$/;

/** The request with what the caller's own request says of the caller: credentials, cookies, and the name of the host. */
function withHeaders(request: Request, headers: CallerHeaders): Request {
  const { signal } = request;
  const merged = new Headers(request.headers);
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined && !ownHeader.test(name)) merged.set(name, value);
  return new Request(request, { headers: merged, signal });
}

async function readJson(
  exchange: HttpExchange,
  bodyBytes: number,
  ask: () => Promise<unknown>,
): Promise<unknown> {
  // A page of another origin may send other types without being asked first.
  if (mediaTypeOf(exchange.headers['content-type']) !== JSON_TYPE)
    throw new A2AError('UNSUPPORTED_MEDIA_TYPE', `The body has the type ${JSON_TYPE}`);
  if (isLarge(exchange)) await ask();
  const options = { limits: { bodyBytes, jsonDepth: 100, jsonValues: maxValues } };
  const body = await readBody(exchange, { options, logger: () => {}, requestId: '', ask });
  if (!body) throw new A2AError('PARSE_ERROR');
  return body.json();
}

/** The reply to a request that was refused. Of errors that are no fault of the caller it says only their kind. */
function refusal(error: unknown, onError: (error: unknown) => void, refusals: 'json' | 'text'): FrontReply {
  const { row, shown, headers } = refused(error, onError);
  const type = refusals === 'json' ? 'application/json' : 'text/plain; charset=utf-8';
  const { reason: code = 'INTERNAL', message = 'Internal error' } = shown ?? {};
  const body = refusals === 'json' ? JSON.stringify({ error: { code, message } }) : message;
  return { status: row.http, headers: { 'content-type': type, ...headers }, body };
}

/**
 * How a request is refused. `shown`: the error, if the caller may read it; of others, the caller reads only that there was
 * one. `onError` is told of errors that are no fault of the caller.
 */
export function refused(error: unknown, onError: (error: unknown) => void) {
  const known = A2AError.is(error) ? (errorTable[error.reason] as ErrorRow | undefined) : undefined;
  const row = known ?? errorTable.INTERNAL_ERROR;
  if (row.http >= 500) onError(error);
  const shown = A2AError.is(error) && row.status !== 'INTERNAL' ? error : undefined;
  // RFC 9110 §15.5.2: a reply with the status 401 has a challenge.
  const challenge = row.http === 401 && { 'www-authenticate': 'Bearer' };
  const headers: Record<string, string> = { ...challenge, ...(shown && toHeaders(shown)) };
  return { row, shown, headers };
}
