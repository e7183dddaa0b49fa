import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server, Socket } from 'node:net';
import type { AgentServer, HttpExchange } from '@batonjs/server';
import { isLoopbackAddress, namesThisMachine } from '@batonjs/server/adapter';
import { endOfRound } from './end-of-round.ts';
import { endWithServer, keepAlive } from './node-server.ts';

/** The members of a request that an adapter adds. */
export interface Asked
  extends Pick<HttpExchange, 'readBody' | 'baseUrl' | 'hasForeignHost' | 'refusal' | 'remoteAddress'> {
  /** Path below the mount and query, as they were sent. */
  readonly target: string;
}

/** Answers a request. Rejects if that is impossible; the headers may have been sent by then. */
export async function answer(
  server: Pick<AgentServer, 'handle'>,
  req: IncomingMessage,
  res: ServerResponse,
  { target, readBody, ...asked }: Asked,
): Promise<void> {
  keepAlive(req.socket);
  const { status, headers, body, bytes } = await server.handle({
    ...asked,
    ...partsOf(target),
    readBody: async (limit, ask) => {
      const read = await readBody(limit, ask);
      await endOfRound();
      return read;
    },
    bytes: () => req,
    method: req.method ?? 'GET',
    headers: headersOf(req),
    signal: leavingOf(res),
  });
  // Node.js would take the unread rest of the body for the next request.
  if (status === 413) res.setHeader('connection', 'close');
  dropRest(req);
  if (typeof body === 'string') {
    await endOfRound();
    // Without a length, Node.js sends it in chunks, which costs client and server more than the rest of the reply.
    res.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body);
    return;
  }
  res.writeHead(status, headers);
  const stream = bytes ?? body;
  if (stream === undefined) res.end();
  else pump(stream, res);
}

/** Aborted when the client leaves. Kept outside the closure: everything the listener captures lives as long as the stream. */
function leavingOf(res: ServerResponse): AbortSignal {
  const gone = new AbortController();
  res.on('close', () => {
    if (!res.writableFinished) gone.abort(left);
  });
  return gone.signal;
}

/** The reason of every such abort. One for all: an abort without a reason would create an error with a stack. */
const left = new Error('The client left');

/** Not with a URL parser: it would resolve `..`, take `//name` for a host, and throw for some targets. */
function partsOf(target: string): Pick<HttpExchange, 'path' | 'query'> {
  const [, path = '', query] = /^([^?#]*)(?:\?([^#]*))?/.exec(target) ?? [];
  return { path, query: new URLSearchParams(query) };
}

const headersOf = ({ headers }: IncomingMessage): Record<string, string | undefined> => {
  const flat: Record<string, string | undefined> = {};
  for (const name in headers) {
    const value = headers[name];
    flat[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return flat;
};

/** Writes a stream, as fast as the client reads it. */
export function pump(body: AsyncIterable<string | Uint8Array>, res: ServerResponse): void {
  const texts = body[Symbol.asyncIterator]();
  // The client may have left before there was a stream.
  if (res.destroyed) return void texts.return?.();
  let isBegun = false;
  const fail = () => void res.destroy();
  const next = () => void texts.next().then(write, fail);
  const write = ({ done, value }: IteratorResult<string | Uint8Array>) => {
    const isFirst = !isBegun;
    isBegun = true;
    if (res.writableEnded) return;
    try {
      if (done) res.end();
      // If the buffer is full, `drain` continues.
      else if (isFirst ? writeFirst(res, value) : res.write(value)) next();
    } catch {
      fail();
    }
  };
  endWithServer(res);
  res.on('drain', next);
  res.on('close', () => void texts.return?.());
  next();
  // The headers are sent together with the first text, unless there is none yet.
  void endOfRound().then(() => {
    if (!isBegun) res.flushHeaders();
  });
}

/**
 * Sends the headers and the first text in one packet. Two writes to a corked socket instead of one joined text: Node.js
 * would keep the headers as 30 pieces of a string while the stream is open.
 */
function writeFirst(res: ServerResponse, text: string | Uint8Array): boolean {
  const { socket } = res;
  socket?.cork();
  res.flushHeaders();
  const canTakeMore = res.write(text);
  socket?.uncork();
  return canTakeMore;
}

/** How many bytes of an unread body the server takes after the answer. */
const mostDropped = 4 * 1_048_576;

/**
 * Drops the rest of the body of a request that is answered now. Then the connection can carry the next request, and
 * a client that is still sending gets its answer. Node.js would drop a body without an end for minutes: beyond 4 MiB,
 * the connection is broken.
 */
export function dropRest(req: IncomingMessage): void {
  if (req.complete || req.readableDidRead) return;
  let dropped = 0;
  req.on('data', ({ length }: Buffer) => {
    dropped += length;
    if (dropped > mostDropped) req.destroy();
  });
  // The client may leave first.
  req.on('error', () => {});
}

/** The mount of an agent, by its request. */
export interface Mount {
  /** `http` or `https`. */
  readonly protocol: string;
  /** The header `Host`. */
  readonly host: string | undefined;
  /** Path of the mount without trailing slash. */
  readonly path: string;
  /** Whether `host` is trusted, because a proxy in front of this server sets it. Otherwise clients choose it. */
  readonly trusted: boolean;
}

/**
 * The URL of the mount: with the host that the request names or, if that is not a host, with the address where it arrived.
 * Undefined if the host is not trusted: without `trusted`, it must name this machine, in a request from this machine. The
 * name is checked too, because a proxy on this machine passes on the `Host` of a client elsewhere, and because the name
 * of a web page may lead to this machine.
 */
export function mountOf(
  socket: Socket,
  { protocol, host, path, trusted }: Mount,
): Pick<HttpExchange, 'baseUrl' | 'hasForeignHost'> {
  const named = hostIn(host);
  if (!trusted) {
    const isLocal = isFromThisMachine(socket);
    const hasForeignHost = isLocal && named !== undefined && !namesThisMachine(named);
    if (!isLocal || hasForeignHost) return { baseUrl: undefined, hasForeignHost };
  }
  const { localAddress, localPort } = socket;
  const arrived = localAddress?.includes(':')
    ? `[${localAddress}]:${localPort}`
    : `${localAddress}:${localPort}`;
  return { baseUrl: `${protocol}://${named ?? arrived}${path}` };
}

/**
 * Whether a request comes over loopback. A connection that is closed has no address any more, so that of its listener
 * counts: a page may send a request and leave. Over a Unix socket there never was one.
 */
function isFromThisMachine(socket: Socket & { readonly server?: Server }): boolean {
  const { remoteAddress, server } = socket;
  if (remoteAddress !== undefined) return isLoopbackAddress(remoteAddress);
  const listener = server?.address();
  return typeof listener !== 'string' && mayBeLoopback(listener?.address);
}

const mayBeLoopback = (address = '::'): boolean =>
  address === '0.0.0.0' || address === '::' || isLoopbackAddress(address);

const hostIn = (header = ''): string | undefined =>
  /^[^\s/\\?#@]+$/.test(header) && URL.canParse(`http://${header}`) ? header : undefined;
