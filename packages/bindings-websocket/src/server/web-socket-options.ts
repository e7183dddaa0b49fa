import type { OptionNames } from '@batonjs/protocol/options';

/** What `attachWebSocket` takes. All times in milliseconds. */
export interface WebSocketServerOptions {
  /** Below the origin. Default `/ws`. */
  readonly path?: string | undefined;
  /**
   * The address in the card, such as `wss://agent.example/ws`. Default: host and port of the listener, with the path. Needed
   * behind a proxy, and for a host that means all addresses, such as `0.0.0.0`: the card does not list it otherwise.
   */
  readonly url?: string | undefined;
  /** Further values of `protocolBinding` under which the card lists it: `WEBSOCKET` is that of the Rust implementation. */
  readonly aliases?: readonly string[] | undefined;
  /**
   * The origins whose web pages may connect, such as `https://app.example.com`; `true`: any. Default none. Clients outside of
   * a browser send no origin and are not asked for one.
   */
  readonly origins?: readonly string[] | true | undefined;
  /** Connections at a time in this process; more are refused with 503. Default 10,000. */
  readonly connections?: number | undefined;
  /**
   * Connections of one caller at a time in this process; without `authenticate`, of one address, which behind a proxy is
   * that of the proxy. Default 256.
   */
  readonly connectionsPerCaller?: number | undefined;
  /** Streams on one connection at a time. Default 128. */
  readonly streams?: number | undefined;
  /** Other calls on one connection at a time. Default 128. */
  readonly requests?: number | undefined;
  /** Messages per second that a connection may send, and all connections of one authenticated caller. Default 100. */
  readonly messagesPerSecond?: number | undefined;
  /** Messages that may come at once, after a pause. Default 1,000. */
  readonly burst?: number | undefined;
  /** How long one message may take to arrive; then the connection is closed with 1008. Default 30,000. */
  readonly messageMs?: number | undefined;
  /** How often `authenticate` is asked again about connections with streams. Default 60,000. */
  readonly recheckMs?: number | undefined;
  /** How often a client must answer a ping. Default 30,000. */
  readonly pingMs?: number | undefined;
  /** How long the answer to a ping may take. Default 10,000. */
  readonly pongMs?: number | undefined;
  /** How long a connection without calls stays open. Default 300,000. */
  readonly idleMs?: number | undefined;
  /** Whether frames of 1 kB and more are compressed for clients that can read them. Default false: it costs time. */
  readonly compression?: boolean | undefined;
}

/** The options by which an unknown one is found. */
export const webSocketOptions: OptionNames<WebSocketServerOptions> = {
  path: true,
  url: true,
  aliases: true,
  origins: true,
  connections: true,
  connectionsPerCaller: true,
  streams: true,
  requests: true,
  messagesPerSecond: true,
  burst: true,
  messageMs: true,
  recheckMs: true,
  pingMs: true,
  pongMs: true,
  idleMs: true,
  compression: true,
};
