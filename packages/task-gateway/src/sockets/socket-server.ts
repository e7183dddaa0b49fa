import type { IncomingMessage } from 'node:http';
import { headersOf, SocketListener } from '@batonjs/bindings-websocket/sockets';
import { A2AError } from '@batonjs/protocol/errors';
import { type OptionsOf, withDefaults } from '@batonjs/protocol/options';
import type { Authenticate, Caller } from '@batonjs/server';
import { callerOf, errorReply } from '../http/handler.ts';
import { checkQuery, toBatchMs } from '../http/task-request.ts';
import { isFault, toWireError } from '../tasks/gateway-refusal.ts';
import { type SocketLimits, type SocketSettings, updateSocket } from './update-socket.ts';

/** How the gateway serves WebSockets, with the defaults. All times in milliseconds. */
export const webSocketOptions = {
  /**
   * The origins whose web pages may connect, such as `https://app.example.com`; `true`: any. Default: pages of the host that
   * the request names; without `authenticate`, over loopback, only if this is a name of this machine or the host of
   * `publicUrl`. Clients outside of a browser send no origin and are not asked for one.
   */
  origins: [] as readonly string[] | true,
  /** WebSockets at a time in this process; more are refused with 503. Default 10,000. */
  sockets: 10_000,
  /**
   * WebSockets of one caller at a time in this process; without `authenticate`, of one address, which behind a proxy is
   * that of the proxy. Default 256.
   */
  socketsPerCaller: 256,
  /** How long one message may take to arrive; then the WebSocket is closed with 1008. Default 30,000. */
  messageMs: 30_000,
  /** Tasks that one WebSocket may subscribe to at a time. Default 1,000. */
  subscriptions: 1_000,
  /** How long a client may leave its updates unread before it gets the latest state of each task only. Default 5,000. */
  slowMs: 5_000,
  /** How often a client must answer a ping, within 10,000. Default 30,000. */
  pingMs: 30_000,
  /** How long a WebSocket without subscriptions stays open while nothing is sent. Default 300,000. */
  idleMs: 300_000,
  /** Whether frames of 1 kB and more are compressed for clients that can read them. Default true. */
  compression: true,
};

/** How the gateway serves WebSockets. */
export type WebSocketOptions = OptionsOf<typeof webSocketOptions>;

/** What the socket server needs besides its options. */
export type SocketServerSettings = Omit<SocketSettings, keyof SocketLimits> & {
  readonly authenticate: Authenticate | undefined;
  readonly publicUrl: string | undefined;
  readonly bodyBytes: number;
};

interface Admitted {
  readonly caller: Caller;
  readonly batchMs: number;
}

/** The code of a WebSocket that is closed because it is idle. */
const IDLE = 4_000;
const pongMs = 10_000;

/** Accepts WebSockets of clients that may connect. */
export function createSocketServer(
  given: WebSocketOptions,
  settings: SocketServerSettings,
): SocketListener<Admitted> {
  const options = withDefaults(webSocketOptions, given);
  const { pingMs, subscriptions, slowMs } = options;
  const { authenticate, publicUrl, isOpen, logger, bodyBytes: maxBytes } = settings;
  const ownHosts = publicUrl === undefined ? [] : [new URL(publicUrl).hostname];
  // Without credentials, a page whose name leads to this machine would be as good as one of this machine.
  const sameHost = authenticate ? true : { of: ownHosts };
  return new SocketListener(
    { ...options, pongMs: Math.min(pongMs, pingMs), idleCode: IDLE, sameHost, maxBytes },
    {
      isOpen,
      admit: (request) => admit(request, authenticate),
      callerOf: ({ caller }) => (authenticate ? caller.scope : undefined),
      serve: (socket, { caller, batchMs }) =>
        updateSocket(socket, caller, batchMs, { ...settings, subscriptions, slowMs }),
      refuse(error) {
        const shown = toWireError(error);
        // That there are too many is no fault, and each attempt of a stranger would be a line.
        if (!A2AError.is(error, 'UNAVAILABLE') && isFault(shown, isOpen()))
          logger('error', 'An upgrade to a WebSocket failed', { err: error });
        return errorReply(shown);
      },
    },
  );
}

async function admit(request: IncomingMessage, authenticate: Authenticate | undefined): Promise<Admitted> {
  const query = new URLSearchParams((request.url ?? '').split('?')[1]);
  const head = { method: 'GET', path: '/task/updates', query, headers: headersOf(request) };
  const caller = await callerOf(head, authenticate);
  if (!authenticate) checkQuery(query, ['batchMs']);
  return { caller, batchMs: toBatchMs(query) };
}
