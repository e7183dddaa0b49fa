import { type ClientHttp2Session, connect, constants, type IncomingHttpHeaders } from 'node:http2';
import { bodyOf, type GrpcRequest } from './request.ts';

/** What became of a request. */
export type GrpcOutcome =
  | { readonly kind: 'reply'; readonly reply: GrpcReply }
  /** A stream that began, and that we left. */
  | { readonly kind: 'stream'; readonly reply: GrpcReply }
  /** The server reset the stream, or hung up, without a status. */
  | { readonly kind: 'closed' }
  /** We hung up, as planned. */
  | { readonly kind: 'left' }
  | { readonly kind: 'hung' };

/** A reply as it came. */
export interface GrpcReply {
  readonly headers: IncomingHttpHeaders;
  /** The trailers; the headers themselves if there was nothing else. */
  readonly trailers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** How long a stream is read after its first event, in milliseconds. */
const streamMs = 20;

/** Connections to one port, each for many requests at once. */
export class GrpcWire {
  readonly #port: number;
  readonly #hungMs: number;
  #session: ClientHttp2Session | undefined;

  constructor(port: number, hungMs: number) {
    this.#port = port;
    this.#hungMs = hungMs;
  }

  close(): void {
    this.#session?.destroy();
  }

  /** A connection for a request that may break it is its own. */
  #open(isOwn: boolean): ClientHttp2Session {
    const kept = this.#session;
    if (!isOwn && kept && !kept.closed && !kept.destroyed) return kept;
    const session = connect(`http://127.0.0.1:${this.#port}`);
    session.on('error', () => {});
    if (!isOwn) this.#session = session;
    return session;
  }

  send(request: GrpcRequest): Promise<GrpcOutcome> {
    const session = this.#open(request.isMangled);
    return new Promise<GrpcOutcome>((resolve) => {
      const chunks: Buffer[] = [];
      let headers: IncomingHttpHeaders | undefined;
      let trailers: IncomingHttpHeaders | undefined;
      let leaving: NodeJS.Timeout | undefined;
      const stream = session.request(headersOf(request), { endStream: false });
      const settle = (outcome: GrpcOutcome) => {
        clearTimeout(hung);
        clearTimeout(leaving);
        stream.close(constants.NGHTTP2_CANCEL);
        if (request.isMangled) session.destroy();
        resolve(outcome);
      };
      const replyOf = () => ({
        headers: headers!,
        trailers: trailers ?? headers!,
        body: Buffer.concat(chunks),
      });
      const hung = setTimeout(() => settle({ kind: 'hung' }), this.#hungMs);
      stream
        .on('response', (received) => {
          headers = received;
        })
        .on('trailers', (received) => {
          trailers = received;
        })
        .on('data', (chunk: Buffer) => {
          chunks.push(chunk);
          leaving ??= setTimeout(() => settle({ kind: 'stream', reply: replyOf() }), streamMs);
        })
        .on('error', () => {})
        .on('close', () => {
          const isReply = headers && isLast(trailers ?? headers);
          settle(isReply ? { kind: 'reply', reply: replyOf() } : { kind: 'closed' });
        });
      const body = bodyOf(request);
      if (request.cutAt === undefined) stream.end(body);
      else stream.write(body.subarray(0, request.cutAt), () => settle({ kind: 'left' }));
    });
  }
}

/** Whether these headers are the last: of a status, or of an answer that is no gRPC. */
const isLast = (headers: IncomingHttpHeaders): boolean =>
  headers['grpc-status'] !== undefined || headers[':status'] !== (200 as unknown);

function headersOf({ path, metadata }: GrpcRequest): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = { ':method': 'POST', ':path': path, te: 'trailers' };
  for (const [name, value] of metadata) {
    const known = headers[name];
    // Node.js itself sends these once.
    const isSingle = known === undefined || /^(authorization|user-agent|content-type)$/.test(name);
    headers[name] = isSingle ? value : [known, value].flat();
  }
  return headers;
}
