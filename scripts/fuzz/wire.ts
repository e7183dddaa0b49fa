import { connect, type Socket } from 'node:net';
import { parseReply, type RawReply } from './reply.ts';
import { bytesOf, type RawRequest } from './request.ts';

/** What became of a request. */
export type Outcome =
  | { readonly kind: 'reply'; readonly reply: RawReply }
  /** A stream that began, and that we left. */
  | { readonly kind: 'stream'; readonly reply: RawReply }
  /** The server hung up without a reply. */
  | { readonly kind: 'closed' }
  /** We hung up, as planned. */
  | { readonly kind: 'left' }
  | { readonly kind: 'hung' }
  | { readonly kind: 'garbage'; readonly message: string };

/** How long a stream is read after its first event, in milliseconds. */
const streamMs = 20;

/** Connections to one port. Those that a request left in order carry further ones. */
export class Wire {
  readonly #port: number;
  readonly #hungMs: number;
  readonly #idle: Socket[] = [];

  constructor(port: number, hungMs: number) {
    this.#port = port;
    this.#hungMs = hungMs;
  }

  async send(request: RawRequest): Promise<Outcome> {
    const kept = request.isMangled ? undefined : this.#takeIdle();
    const socket =
      kept ?? connect({ port: this.#port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
    const outcome = await this.#exchange(socket, request);
    // A connection that was kept may have been closed at that moment.
    if (kept && outcome.kind === 'closed') return this.send(request);
    const isInOrder =
      outcome.kind === 'reply' && !request.isMangled && outcome.reply.headers.connection !== 'close';
    if (isInOrder && !socket.destroyed && this.#idle.length < 32) this.#idle.push(socket);
    else socket.resetAndDestroy();
    return outcome;
  }

  /** A connection that the server has not closed meanwhile; bytes written to a closed one are lost without an error. */
  #takeIdle(): Socket | undefined {
    for (let socket = this.#idle.pop(); socket; socket = this.#idle.pop()) {
      if (!socket.destroyed && !socket.readableEnded) return socket;
      socket.destroy();
    }
    return undefined;
  }

  close(): void {
    for (const socket of this.#idle.splice(0)) socket.resetAndDestroy();
  }

  #exchange(socket: Socket, request: RawRequest): Promise<Outcome> {
    return new Promise((resolve) => {
      const chunks: Buffer[] = [];
      let leaving: NodeJS.Timeout | undefined;
      const settle = (outcome: Outcome) => {
        clearTimeout(hung);
        clearTimeout(leaving);
        socket.off('data', onData).off('end', onEnd).off('close', onEnd);
        resolve(outcome);
      };
      const check = (isClosed: boolean) => {
        try {
          const reply = parseReply(Buffer.concat(chunks), request.method, isClosed);
          if (reply?.isWhole) return settle({ kind: 'reply', reply });
          if (isClosed) return settle({ kind: 'closed' });
          if (leaving || !reply?.headers['content-type']?.startsWith('text/event-stream')) return;
          if (reply.body.includes('\n\n'))
            leaving = setTimeout(() => {
              const latest = parseReply(Buffer.concat(chunks), request.method, false)!;
              settle({ kind: 'stream', reply: latest });
            }, streamMs);
        } catch (error) {
          settle({ kind: 'garbage', message: (error as Error).message });
        }
      };
      const hung = setTimeout(() => settle({ kind: 'hung' }), this.#hungMs);
      const onData = (chunk: Buffer) => {
        chunks.push(chunk);
        check(false);
      };
      const onEnd = () => check(true);
      socket.on('data', onData).on('end', onEnd).on('close', onEnd);
      if (socket.listenerCount('error') === 0) socket.on('error', () => {});
      const bytes = bytesOf(request);
      if (request.cutAt !== undefined) {
        socket.write(bytes.subarray(0, request.cutAt), () => settle({ kind: 'left' }));
      } else {
        socket.write(bytes);
        // The server may wait for more than there is: it hears that there is no more.
        if (request.isMangled) socket.end();
      }
    });
  }
}
