import type { OptionsOf } from '@batonjs/protocol/options';

/** The options of `attachWebSocket`, with the defaults. All times in milliseconds. */
export const webSocketOptions = {
  /** Below the origin. Default `/ws`. */
  path: '/ws',
  /**
   * The address in the card, such as `wss://agent.example/ws`. Default: host and port of the listener, with the path. Needed
   * behind a proxy, and for a host that means all addresses, such as `0.0.0.0`: the card does not list it otherwise.
   */
  url: undefined as string | undefined,
  /** Further values of `protocolBinding` under which the card lists it: `WEBSOCKET` is that of the Rust implementation. */
  aliases: [] as readonly string[],
  /**
   * The origins whose web pages may connect, such as `https://app.example.com`; `true`: any. Default none. Clients outside of
   * a browser send no origin and are not asked for one.
   */
  origins: [] as readonly string[] | true,
  /** Connections at a time in this process; more are refused with 503. Default 10,000. */
  connections: 10_000,
  /**
   * Connections of one caller at a time in this process; without `authenticate`, of one address, which behind a proxy is
   * that of the proxy. Default 256.
   */
  connectionsPerCaller: 256,
  /** Streams on one connection at a time. Default 128. */
  streams: 128,
  /** Other calls on one connection at a time. Default 128. */
  requests: 128,
  /** Messages per second that a connection may send, and all connections of one authenticated caller. Default 100. */
  messagesPerSecond: 100,
  /** Messages that may come at once, after a pause. Default 1,000. */
  burst: 1_000,
  /** How long one message may take to arrive; then the connection is closed with 1008. Default 30,000. */
  messageMs: 30_000,
  /** How often `authenticate` is asked again about connections with streams. Default 60,000. */
  recheckMs: 60_000,
  /** How often a client must answer a ping. Default 30,000. */
  pingMs: 30_000,
  /** How long the answer to a ping may take. Default 10,000. */
  pongMs: 10_000,
  /** How long a connection without calls stays open. Default 300,000. */
  idleMs: 300_000,
  /** Whether frames of 1 kB and more are compressed for clients that can read them. Default false: it costs time. */
  compression: false,
};

/** What `attachWebSocket` takes. */
export type WebSocketServerOptions = OptionsOf<typeof webSocketOptions>;
