import { A2AError, type AgentClient, ClientError } from '@batonjs/client';
import { logError, refused } from '@batonjs/extensions/internals';
import { errorTable } from '@batonjs/protocol/errors';
import { JSON_TYPE, mediaTypeOf } from '@batonjs/protocol/headers';
import { guardHook } from '@batonjs/protocol/hooks';
import { chunksOf, readText } from '@batonjs/protocol/json';
import { mustKnowOptions, type OptionsOf, withDefaults } from '@batonjs/protocol/options';
import type { AgentServer, HttpExchange } from '@batonjs/server';
import { answerInTime, isForeignHost, parseJson } from '@batonjs/server/adapter';
import {
  createMcpHandler,
  isLegacyRequest,
  type ServerContext,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { mcpOptions, serverFactory } from '../server/to-mcp.ts';
import type { OnError } from '../translation/results.ts';
import { type McpCaller, sessionsOf } from './sessions.ts';
import { TaskStreams } from './task-streams.ts';

/** The options of `mcpHandler`, with their defaults. */
const handlerOptions = {
  ...mcpOptions,
  /**
   * Sessions of clients before protocol 2026-07-28 that are kept. Of the caller with the most, the one that was used
   * least recently makes room for another. Default 1,000.
   */
  sessions: 1_000,
  /**
   * The most bytes of a request; a longer one is answered 413 before it is parsed. One with more than 20,000 values, or
   * members of more than 4,000 different names, is answered 400. Default 1,048,576 (1 MiB).
   */
  bodyBytes: 1_048_576,
};

/** Options of `mcpHandler`. */
export type McpHandlerOptions = OptionsOf<typeof handlerOptions>;

/** MCP over streamable HTTP, mounted as an agent is. */
export interface McpHandler {
  /** The handler that adapters of HTTP frameworks call: `nodeHandler`, `a2aExpress`, `a2aFastify` and `a2aHono` take it. */
  readonly handle: AgentServer['handle'];
  /** Answers a request to the endpoint, whatever its path. */
  fetch(request: Request): Promise<Response>;
  /** Ends all sessions and requests. Tasks of the agent go on. */
  close(): Promise<void>;
}

/**
 * Serves an agent as an MCP server over streamable HTTP. For several users, a function checks the caller of each
 * request, those of a session included, and chooses its agent, within 5 s. It reads headers, not the body. It refuses a caller with
 * an `A2AError`, such as `UNAUTHENTICATED`, which the caller sees with its challenge. Other errors go to `onError`.
 *
 * Without a function, every request reaches the agent with the same credentials. Those of web pages are then refused unless
 * `Origin` names this machine or an address (DNS rebinding). Throws `RangeError` for options out of bounds, and `TypeError` for one that
 * does not exist.
 */
export function mcpHandler(
  agent: AgentClient | ((request: Request) => McpCaller | Promise<McpCaller>),
  options: McpHandlerOptions = {},
): McpHandler {
  mustKnowOptions(options, handlerOptions);
  const complete = withDefaults(handlerOptions, options);
  const { onError, bodyBytes: maxRequestBodySize } = complete;
  const onerror = onError && guardHook('onError', onError);
  if (!(Number.isInteger(maxRequestBodySize) && maxRequestBodySize > 0))
    throw new RangeError(`bodyBytes is an integer above 0, not ${maxRequestBodySize}`);
  const { createServer, tasks } = serverFactory(options);
  const taskStreams = new TaskStreams(tasks);
  const sessions = sessionsOf(complete.sessions);
  if (typeof agent !== 'function' && typeof Object(agent).listTasks !== 'function')
    throw new TypeError('mcpHandler takes a client of `connect`, or a function that gives one');
  const identify =
    typeof agent === 'function'
      ? answerInTime('agent', agent)
      : ({ headers }: Request) => {
          checkOrigin(headers.get('origin'));
          return { caller: 'anyone', agent };
        };
  /** The agent of each request: a session outlives the credentials that it began with. */
  const agents = new WeakMap<Request, AgentClient>();
  const agentOf = ({ http }: ServerContext) => agents.get(http!.req!)!;
  const serverFor = (era: 'legacy' | 'modern', request: Request) =>
    createServer(era, agents.get(request)!.card, agentOf);

  const stateless = createMcpHandler(({ era, requestInfo }) => serverFor(era, requestInfo!), {
    legacy: 'reject',
    maxRequestBodySize,
    ...(onerror && { onerror }),
  });

  const startSession = async (request: Request, caller: string, parsedBody: unknown): Promise<Response> => {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (id) => sessions.add(id, { caller, transport, server }),
      onsessionclosed: (id) => sessions.remove(id),
      maxRequestBodySize,
    });
    const server = serverFor('legacy', request);
    await server.connect(transport);
    const response = await transport.handleRequest(request, { parsedBody });
    // The request was no `initialize`, and was refused.
    if (transport.sessionId === undefined) await server.close();
    return response;
  };

  const answer = async (request: Request): Promise<Response> => {
    let identified: McpCaller;
    let parsedBody: unknown;
    try {
      identified = checked(await identify(request));
      agents.set(request, identified.agent);
      parsedBody = await readJson(request, maxRequestBodySize);
    } catch (error) {
      return refusal(error, onerror ?? logError);
    }
    const id = request.headers.get('mcp-session-id');
    if (id !== null)
      return (
        sessions.get(id, identified.caller)?.transport.handleRequest(request, { parsedBody }) ??
        errorResponse(404, ...notFound)
      );
    return (await isLegacyRequest(request, parsedBody, { maxRequestBodySize }))
      ? startSession(request, identified.caller, parsedBody)
      : taskStreams.answer(request, parsedBody, identified, () => stateless.fetch(request, { parsedBody }));
  };

  const fetch = async (request: Request) => endWithClient(await answer(request), request);
  return {
    fetch,
    handle: handleOf(fetch, maxRequestBodySize),
    async close() {
      await Promise.all([stateless.close(), sessions.close(), taskStreams.close()]);
    },
  };
}

/** Refuses a page whose name may lead to this machine. Programs send no origin. Spec: MCP 2025-11-25, Transports. */
function checkOrigin(origin: string | null): void {
  if (origin === null) return;
  const host = URL.canParse(origin) ? new URL(origin).host : '';
  if (host === '' || isForeignHost(host, { own: [], isLoopback: undefined }))
    throw new A2AError('PERMISSION_DENIED', 'Pages of this origin need a function that checks who calls');
}

/** Clients start a new session then. Spec: MCP 2025-11-25, Session Management. */
const notFound = [-32_001, 'Session not found'] as const;

/**
 * Ends the stream of a response as soon as its client leaves. The SDK's handler for Node.js notices that with the next
 * chunk only, and until then refuses the stream of a client that comes back.
 */
function endWithClient(response: Response, request: Request): Response {
  if (!response.body) return response;
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  // Holds the request until the stream ends: the signal of one that was collected is not aborted any more.
  const ended = () => request;
  response.body.pipeTo(writable, { signal: request.signal }).then(ended, ended);
  return new Response(readable, response);
}

/** Callers without a name would share their sessions. */
function checked(given: McpCaller): McpCaller {
  const { caller, agent } = Object(given) as Partial<McpCaller>;
  if (typeof caller === 'string' && caller !== '' && agent) return { caller, agent };
  throw new TypeError('The function of mcpHandler returns { caller, agent }, and the caller is a name');
}

/** Three programs read the values of a call: this one, its client of the agent, and the agent. */
const maxValues = 20_000;

/**
 * The JSON in the body of a request; undefined if it has none, which the transport refuses. Throws `PAYLOAD_TOO_LARGE`
 * beyond `most` bytes, `PARSE_ERROR`, and `INVALID_REQUEST` for more than 20,000 values or 4,000 different names.
 */
async function readJson({ method, headers, body }: Request, most: number): Promise<unknown> {
  if (method !== 'POST' || !body || mediaTypeOf(headers.get('content-type')) !== JSON_TYPE) return undefined;
  const text = await readText(chunksOf(body), most);
  if (text === undefined) throw new A2AError('PAYLOAD_TOO_LARGE', `The body is larger than ${most} bytes`);
  return parseJson(text, { maxValues });
}

/** An error of JSON-RPC for a request whose id was not read. */
const errorResponse = (
  status: number,
  code: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): Response =>
  Response.json({ jsonrpc: '2.0', id: null, error: { code, message } }, { status, headers: { ...headers } });

/**
 * The reply to a request whose caller was refused, or for which no agent was found. The caller reads an `A2AError`, and
 * of other errors only their kind. `onError` sees every error that is no fault of the caller.
 */
export function refusal(error: unknown, onError: OnError): Response {
  const { row, shown, headers } = refused(error, onError);
  if (shown) return errorResponse(row.http, row.jsonRpc, shown.message, headers);
  return ClientError.is(error)
    ? errorResponse(502, errorTable.INTERNAL_ERROR.jsonRpc, `The agent cannot be called (${error.code})`)
    : errorResponse(500, errorTable.INTERNAL_ERROR.jsonRpc, 'Internal error');
}

type Handle = AgentServer['handle'];

/** A web-standard handler as one that adapters of HTTP frameworks mount. A body is read when the handler reads it. */
const handleOf =
  (fetch: (request: Request) => Promise<Response>, bodyBytes: number): Handle =>
  async (exchange) => {
    const response = await fetch(requestOf(exchange, bodyBytes));
    const { status, headers, body } = response;
    const isStream = headers.get('content-type')?.startsWith('text/event-stream');
    return {
      status,
      headers: Object.fromEntries(headers),
      ...(body && { body: isStream ? body.pipeThrough(new TextDecoderStream()) : await response.text() }),
    };
  };

function requestOf(exchange: HttpExchange, bodyBytes: number): Request {
  const { method, baseUrl = 'http://localhost', path, query, headers, signal } = exchange;
  const url = new URL(`${baseUrl}${path}`);
  url.search = query.toString();
  const init = { method, headers: headersOf(headers), signal };
  if (method === 'GET' || method === 'HEAD') return new Request(url, init);
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        controller.enqueue(await bytesOf(exchange, bodyBytes));
        controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  return new Request(url, { ...init, body, duplex: 'half' } as RequestInit);
}

/** The body, also one that a framework has parsed. Throws `PAYLOAD_TOO_LARGE` and `UNSUPPORTED_MEDIA_TYPE`. */
async function bytesOf({ readBody }: HttpExchange, bodyBytes: number): Promise<Uint8Array> {
  const body = await readBody(bodyBytes, async () => {});
  if (!body || 'longerThan' in body)
    throw new A2AError('PAYLOAD_TOO_LARGE', `The body is larger than ${bodyBytes} bytes`);
  if ('encoding' in body) throw new A2AError('UNSUPPORTED_MEDIA_TYPE', 'The body is compressed');
  return 'bytes' in body ? body.bytes : new TextEncoder().encode(JSON.stringify(body.value));
}

function headersOf(headers: HttpExchange['headers']): Headers {
  const given = new Headers();
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) given.set(name, value);
  return given;
}
