import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type HttpReply, isForeignHost, isLoopbackAddress } from '@batonjs/bindings';
import { A2AError } from '@batonjs/protocol/errors';
import { type WebSocket, WebSocketServer } from 'ws';
import { Callers, UnfinishedMessage } from './callers.ts';
import { type OnUpgrade, refuseUpgrade } from './upgrade-routes.ts';

/** How WebSockets are accepted and kept. All times in milliseconds. */
export interface SocketSettings {
  /** The origins whose web pages may connect; `true`: any. Clients outside of a browser send none and are not asked. */
  readonly origins: readonly string[] | true;
  /**
   * Whether pages of the host that the request names may connect as well. With the agent's own names: only if the name is
   * not foreign (`isForeignHost`), because the name of any page may lead to this machine (DNS rebinding).
   */
  readonly sameHost: boolean | { readonly of: readonly string[] };
  /** WebSockets at a time; more are refused with 503. */
  readonly sockets: number;
  /** WebSockets of one caller at a time; more are refused with 503. */
  readonly socketsPerCaller: number;
  /** How often a client must answer a ping. */
  readonly pingMs: number;
  /** How long after a ping a client is disconnected unless it answers or there is other traffic. */
  readonly pongMs: number;
  /** How long a WebSocket on which nothing is under way stays open without traffic. */
  readonly idleMs: number;
  readonly idleCode: number;
  /** The sub-protocol that clients offer, in lower case; in any case of letters, and among others. */
  readonly subprotocol?: string;
  /** Whether frames of 1 kB and more are compressed for clients that can read them. */
  readonly compression: boolean;
  /** The most bytes of one message; more close the WebSocket with 1009. */
  readonly maxBytes: number;
  /** How long one message may take to arrive; then the WebSocket is closed with 1008. */
  readonly messageMs: number;
}

/** One WebSocket, as the listener watches over it. */
export interface ServedSocket {
  /** Whether nothing is under way on it. */
  readonly isIdle: boolean;
  /** When something was last received or taken by the network, in milliseconds of `performance.now()`. */
  readonly activeAt: number;
}

/** Who may connect, and what serves them. */
export interface SocketRole<Admitted> {
  /** Whether new WebSockets are accepted. */
  isOpen(): boolean;
  /** Rejects for a client who may not connect. */
  admit(request: IncomingMessage): Promise<Admitted>;
  /** `caller`: the same object for all WebSockets of a caller, as long as there is one. */
  serve(socket: WebSocket, admitted: Admitted, caller: object): ServedSocket;
  /** Names the caller, whose WebSockets count together; undefined: clients of one address count together. */
  callerOf(admitted: Admitted): string | undefined;
  /** The response to an upgrade that is refused. */
  refuse(error: unknown, request: IncomingMessage): HttpReply;
}

interface Entry {
  readonly served: ServedSocket;
  readonly unfinished: UnfinishedMessage;
  /** When a ping was sent that is not answered yet. */
  pingedAt: number | undefined;
  /** Whether it was closed because it did not answer. */
  isSilent: boolean;
}

/** How often WebSockets are looked at whose message takes too long, in milliseconds. */
const lookMs = 1_000;

const unavailable = (why: string) => new A2AError('UNAVAILABLE', why, { retryAfter: 1 });

/** Whether a ping was answered neither by a pong nor by other traffic. */
const isWaitedFor = ({ pingedAt, served }: Entry): boolean =>
  pingedAt !== undefined && served.activeAt <= pingedAt;

/** Accepts the WebSockets of clients that may connect, and disconnects those that are gone or idle. */
export class SocketListener<Admitted> {
  readonly #server: WebSocketServer;
  readonly #settings: SocketSettings;
  readonly #role: SocketRole<Admitted>;
  readonly #sockets = new Map<WebSocket, Entry>();
  readonly #callers: Callers;
  readonly #pings: NodeJS.Timeout;
  readonly #looks: NodeJS.Timeout;
  #pongs: NodeJS.Timeout | undefined;
  /** Those that are being admitted. */
  #arriving = 0;

  constructor(settings: SocketSettings, role: SocketRole<Admitted>) {
    this.#settings = settings;
    this.#role = role;
    // Four of the longest messages, for all WebSockets of a caller.
    this.#callers = new Callers({ sockets: settings.socketsPerCaller, bytes: 4 * settings.maxBytes });
    this.#server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      maxPayload: settings.maxBytes,
      handleProtocols: (offered) => [...offered].find((name) => this.#isOurs(name)) ?? false,
      // Without context takeover, a compressed socket that sends nothing holds no memory of the compressor.
      perMessageDeflate: settings.compression && {
        threshold: 1_024,
        serverNoContextTakeover: true,
        clientNoContextTakeover: true,
        zlibDeflateOptions: { level: 3 },
      },
    });
    this.#pings = setInterval(() => this.#ping(), Math.min(settings.pingMs, settings.idleMs)).unref();
    this.#looks = setInterval(() => this.#look(), Math.min(lookMs, settings.messageMs)).unref();
  }

  /** Answers an upgrade with a WebSocket, or with the response of a refusal. */
  readonly upgrade: OnUpgrade = (request, socket, head) => void this.#upgrade(request, socket, head);

  /** Whether the header `Sec-WebSocket-Protocol` offers the sub-protocol. */
  isOffered(header = ''): boolean {
    return header.split(',').some((name) => this.#isOurs(name.trim()));
  }

  /** Closes all WebSockets, and stops to look after them. */
  close(code: number, reason: string): void {
    clearInterval(this.#pings);
    clearInterval(this.#looks);
    clearTimeout(this.#pongs);
    for (const client of this.#sockets.keys()) client.close(code, reason);
    this.#server.close();
  }

  async #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const { admit, refuse } = this.#role;
    // The client may leave while it is admitted.
    socket.on('error', () => {});
    this.#arriving += 1;
    try {
      this.#check(request);
      const admitted = await admit(request);
      const name = this.#role.callerOf(admitted);
      const key = name === undefined ? `address ${request.socket.remoteAddress}` : `caller ${name}`;
      const caller = this.#callers.enter(key);
      if (!caller)
        throw unavailable(`Too many WebSockets of this ${name === undefined ? 'address' : 'caller'}`);
      const leave = () => this.#callers.leave(key);
      if (socket.closed) return leave();
      // Also emitted when the handshake is refused.
      socket.once('close', leave);
      this.#server.handleUpgrade(request, socket, head, (client) => {
        const unfinished = new UnfinishedMessage(client, socket, caller, this.#settings.maxBytes);
        this.#accept(client, this.#role.serve(client, admitted, caller), unfinished);
      });
    } catch (error) {
      const { status, headers, body = '' } = refuse(error, request);
      refuseUpgrade(socket, status, headers, String(body));
    } finally {
      this.#arriving -= 1;
    }
  }

  #check(request: IncomingMessage): void {
    const { method, headers } = request;
    if (!this.#role.isOpen()) throw unavailable('The server is closing');
    if (!this.#isAllowed(request))
      throw new A2AError('PERMISSION_DENIED', 'Pages of this origin may not connect');
    if (method !== 'GET' || headers.upgrade?.toLowerCase() !== 'websocket')
      throw new A2AError('INVALID_REQUEST', 'The upgrade must be a GET to a WebSocket');
    if (this.#sockets.size + this.#arriving > this.#settings.sockets)
      throw unavailable('Too many WebSockets');
  }

  #isAllowed({ headers: { origin, host = '' }, socket }: IncomingMessage): boolean {
    const { origins, sameHost } = this.#settings;
    if (origin === undefined || origins === true || origins.includes(origin)) return true;
    if (!sameHost || !URL.canParse(origin) || new URL(origin).host !== host) return false;
    const isLoopback = isLoopbackAddress(socket.remoteAddress);
    return sameHost === true || !isForeignHost(host, { own: sameHost.of, isLoopback });
  }

  #isOurs(name: string): boolean {
    return name.toLowerCase() === this.#settings.subprotocol;
  }

  #accept(client: WebSocket, served: ServedSocket, unfinished: UnfinishedMessage): void {
    const entry: Entry = { served, unfinished, pingedAt: undefined, isSilent: false };
    this.#sockets.set(client, entry);
    client.on('pong', () => {
      entry.pingedAt = undefined;
    });
    client.on('close', () => this.#sockets.delete(client));
  }

  #ping(): void {
    const now = performance.now();
    const { idleMs, idleCode, pongMs } = this.#settings;
    for (const [client, entry] of this.#sockets) {
      const { isIdle, activeAt } = entry.served;
      // It did not take part in the closing handshake either.
      if (entry.isSilent) client.terminate();
      if (isIdle && now - activeAt >= idleMs) {
        client.close(idleCode, 'Idle');
        continue;
      }
      if (!isWaitedFor(entry)) entry.pingedAt = now;
      client.ping();
    }
    // A timer may fire a little early, and would find that the time is not over.
    this.#pongs = setTimeout(() => this.#disconnectSilent(), pongMs + 5).unref();
  }

  /** Closes the WebSockets whose message takes too long. */
  #look(): void {
    const before = performance.now() - this.#settings.messageMs;
    for (const { unfinished } of this.#sockets.values())
      if (unfinished.since <= before) unfinished.refuse('A message took too long to arrive');
  }

  #disconnectSilent(): void {
    const now = performance.now();
    for (const [client, entry] of this.#sockets) {
      if (!isWaitedFor(entry) || now - entry.pingedAt! < this.#settings.pongMs) continue;
      entry.isSilent = true;
      client.close(1001, 'No answer to a ping');
    }
  }
}
