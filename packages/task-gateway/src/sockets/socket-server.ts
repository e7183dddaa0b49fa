import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { A2AError } from '@batonjs/protocol/errors';
import type { Authenticate, Caller } from '@batonjs/server';
import { type WebSocket, WebSocketServer } from 'ws';
import { callerOf } from '../http/caller-of.ts';
import { errorReply } from '../http/json-reply.ts';
import { checkQuery, toBatchMs } from '../http/task-request.ts';
import { GatewayRefusal, isFault, toWireError } from '../tasks/gateway-refusal.ts';
import { type SocketSettings, UpdateSocket } from './update-socket.ts';

/** How the gateway serves WebSockets. All times in milliseconds. */
export interface WebSocketOptions {
  /**
   * The origins whose web pages may connect, such as `https://app.example.com`; `true`: any. Default: pages of the host that
   * the request names. Clients outside of a browser send no origin and are not asked for one.
   */
  readonly origins?: readonly string[] | true;
  /** WebSockets at a time in this process; more are refused with 503. Default 10,000. */
  readonly sockets?: number;
  /** Tasks that one WebSocket may subscribe to at a time. Default 1,000. */
  readonly subscriptions?: number;
  /** How long a client may leave its updates unread before it gets the latest state of each task only. Default 5,000. */
  readonly slowMs?: number;
  /** How often a client must answer a ping. One that does not is disconnected at the next. Default 30,000. */
  readonly pingMs?: number;
  /** How long a WebSocket without subscriptions stays open while nothing is sent. Default 300,000. */
  readonly idleMs?: number;
  /** Whether frames of 1 kB and more are compressed for clients that can read them. Default true. */
  readonly compression?: boolean;
}

/** What the socket server needs besides its options. */
export type SocketServerSettings = Pick<SocketSettings, 'service' | 'watches' | 'log'> & {
  readonly authenticate: Authenticate | undefined;
  readonly bodyBytes: number;
  readonly isOpen: () => boolean;
};

/** The code of a WebSocket that is closed because it is idle. */
const IDLE = 4_000;

/** Accepts WebSockets of clients that may connect. */
export class SocketServer {
  readonly #server: WebSocketServer;
  readonly #settings: SocketServerSettings & Required<WebSocketOptions>;
  readonly #sockets = new Map<WebSocket, { readonly updates: UpdateSocket; isAlive: boolean }>();
  readonly #pings: NodeJS.Timeout;

  constructor(
    {
      origins = [],
      sockets = 10_000,
      subscriptions = 1_000,
      slowMs = 5_000,
      pingMs = 30_000,
      idleMs = 300_000,
      compression = true,
    }: WebSocketOptions,
    settings: SocketServerSettings,
  ) {
    this.#settings = {
      ...settings,
      origins,
      sockets,
      subscriptions,
      slowMs,
      pingMs,
      idleMs,
      compression,
    };
    this.#server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      maxPayload: settings.bodyBytes,
      // Without context takeover, a compressed socket that sends nothing holds no memory of the compressor.
      perMessageDeflate: compression && {
        threshold: 1_024,
        serverNoContextTakeover: true,
        clientNoContextTakeover: true,
        zlibDeflateOptions: { level: 3 },
      },
    });
    this.#pings = setInterval(() => this.#ping(), Math.min(pingMs, idleMs)).unref();
  }

  /** Answers an upgrade: with a WebSocket, or with an error in JSON. `query` is that of the request. */
  async upgrade(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    query: URLSearchParams,
  ): Promise<void> {
    // The client may leave while it is authenticated.
    socket.on('error', ignore);
    try {
      const { caller, batchMs } = await this.#admit(request, query);
      socket.off('error', ignore);
      this.#server.handleUpgrade(request, socket, head, (client) => this.#accept(client, caller, batchMs));
    } catch (error) {
      const shown = toWireError(error);
      if (isFault(shown)) this.#settings.log('error', 'An upgrade to a WebSocket failed', { err: error });
      const { status, headers, body = '' } = errorReply(shown);
      const lines = Object.entries({ ...headers, connection: 'close' }).map(
        ([name, value]) => `${name}: ${value}`,
      );
      socket.end(`HTTP/1.1 ${status} Refused\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
    }
  }

  /** Closes all WebSockets: their clients connect again, to another process. */
  close(): void {
    clearInterval(this.#pings);
    for (const client of this.#sockets.keys()) client.close(1001, 'The gateway closes');
    this.#server.close();
  }

  async #admit(
    request: IncomingMessage,
    query: URLSearchParams,
  ): Promise<{ caller: Caller; batchMs: number }> {
    const { authenticate, isOpen, sockets } = this.#settings;
    if (!isOpen()) throw new A2AError('UNAVAILABLE', 'The server is closing', { retryAfter: 1 });
    if (!this.#isAllowed(request))
      throw new A2AError('PERMISSION_DENIED', 'Pages of this origin may not connect');
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [
        name,
        Array.isArray(value) ? value.join(', ') : value,
      ]),
    );
    const caller = await callerOf({ method: 'GET', path: '/task/updates', query, headers }, authenticate);
    if (!authenticate) checkQuery(query, ['batchMs']);
    const batchMs = toBatchMs(query);
    if (request.method !== 'GET' || request.headers.upgrade?.toLowerCase() !== 'websocket')
      throw new GatewayRefusal('INVALID_REQUEST', 'The upgrade must be a GET to a WebSocket');
    if (this.#sockets.size >= sockets)
      throw new A2AError('UNAVAILABLE', 'Too many WebSockets', { retryAfter: 1 });
    return { caller, batchMs };
  }

  #isAllowed({ headers: { origin, host } }: IncomingMessage): boolean {
    const { origins } = this.#settings;
    if (origin === undefined || origins === true || origins.includes(origin)) return true;
    return URL.canParse(origin) && new URL(origin).host === host;
  }

  #accept(client: WebSocket, caller: Caller, batchMs: number): void {
    const entry = { updates: new UpdateSocket(client, caller, batchMs, this.#settings), isAlive: true };
    this.#sockets.set(client, entry);
    client.on('pong', () => {
      entry.isAlive = true;
    });
    client.on('close', () => this.#sockets.delete(client));
  }

  #ping(): void {
    const { idleMs } = this.#settings;
    for (const [client, entry] of this.#sockets) {
      const { updates } = entry;
      if (!entry.isAlive) client.terminate();
      else if (updates.isIdle && performance.now() - updates.activeAt >= idleMs) client.close(IDLE, 'Idle');
      else {
        entry.isAlive = false;
        client.ping();
      }
    }
  }
}

const ignore = (): void => {};
