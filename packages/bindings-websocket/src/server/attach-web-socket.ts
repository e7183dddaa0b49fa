import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CallTarget, httpJsonServer } from '@batonjs/bindings';
import { A2AError, invalidRequest } from '@batonjs/protocol/errors';
import { PROTOCOL_VERSION } from '@batonjs/protocol/headers';
import { mustKnowOptions, withDefaults } from '@batonjs/protocol/options';
import { SocketListener, type SocketSettings } from '../sockets/socket-listener.ts';
import { headersOf, routeUpgrades } from '../sockets/upgrade-routes.ts';
import { SUBPROTOCOL, WEBSOCKET_BINDING } from '../wire/binding-name.ts';
import { closeCodes } from '../wire/close-code.ts';
import { Connection } from './connection.ts';
import { MessageCount } from './message-rate.ts';
import { type WebSocketServerOptions, webSocketOptions } from './web-socket-options.ts';

/** An agent that is served over WebSocket. */
export interface WebSocketEndpoint {
  /** As the card lists it; undefined if it does not, or the listener does not listen yet. */
  readonly url: string | undefined;
  /** How many connections are open. */
  readonly connections: number;
  /**
   * Takes the interface off the card, accepts no more connections, and waits up to `graceMs` milliseconds (default 10,000)
   * for calls that run; then ends them, and closes. The server itself stays open. When the server closes, connections
   * are closed as their calls end, without this call.
   */
  close(options?: { readonly graceMs?: number }): Promise<void>;
}

/** How long the closing handshakes may take, in milliseconds. */
const handshakeMs = 1_000;

interface Admitted {
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly remoteAddress: string | undefined;
  readonly scope: string | undefined;
}

/**
 * Serves an agent over WebSocket on a server of `node:http` or `node:https`, and lists the address in its card. Throws a
 * `TypeError` for a path that is taken and for an unknown option. The rules of the binding are in
 * `docs/serving/websocket.md`. Spec: §5.8, §12.
 */
export function attachWebSocket(
  server: CallTarget,
  listener: Server,
  given: WebSocketServerOptions = {},
): WebSocketEndpoint {
  mustKnowOptions(given, webSocketOptions);
  const options = withDefaults(webSocketOptions, given);
  const { streams, requests, recheckMs, messagesPerSecond: perSecond, burst } = options;
  const path = `/${options.path.replace(/^\/+/, '')}`;
  const rate = { perSecond, burst };
  /** The messages of each caller, by what its connections have together. */
  const counts = new WeakMap<object, MessageCount>();
  const connections = new Set<Connection>();
  let isOpen = true;
  let emptied = Promise.withResolvers<void>();

  // First, because it refuses a path that is taken.
  const unroute = routeUpgrades(listener, path, (...upgrade) => sockets.upgrade(...upgrade));
  const sockets = new SocketListener<Admitted>(socketSettings(options, server.limits.bodyBytes), {
    isOpen: () => isOpen && !server.closing.aborted,
    async admit(request) {
      const headers = headersOf(request);
      if (!sockets.isOffered(headers['sec-websocket-protocol']))
        throw invalidRequest([{ field: 'Sec-WebSocket-Protocol', description: `must offer ${SUBPROTOCOL}` }]);
      const scope = await server.checkCaller({ path: '/', headers });
      return { headers, remoteAddress: request.socket.remoteAddress, scope };
    },
    serve(socket, admitted, caller) {
      const messages = new MessageCount(rate);
      const known = counts.get(caller) ?? new MessageCount(rate);
      counts.set(caller, known);
      const connection = new Connection(socket, {
        ...admitted,
        target: server,
        messages,
        ofCaller: admitted.scope === undefined ? undefined : known,
        streams,
        requests,
      });
      connections.add(connection);
      // The server may have begun to close while the client was admitted.
      if (!isOpen) connection.drain();
      socket.on('close', () => {
        connections.delete(connection);
        if (connections.size === 0) emptied.resolve();
      });
      return connection;
    },
    callerOf: ({ scope }) => scope,
    refuse: (error, request) =>
      httpJsonServer.encodeError(A2AError.from(error), {
        method: 'GET',
        path,
        query: new URLSearchParams(),
        headers: headersOf(request),
      }),
  });
  const entry = cardEntry(server, listener, path, options);
  const rechecks = setInterval(() => {
    for (const connection of connections) connection.recheck();
  }, recheckMs).unref();

  const drain = () => {
    isOpen = false;
    entry.remove();
    for (const connection of connections) connection.drain();
  };
  server.closing.addEventListener('abort', drain);

  const shutDown = async (graceMs: number) => {
    drain();
    if (connections.size > 0) {
      emptied = Promise.withResolvers();
      const ending = setTimeout(() => {
        for (const connection of connections) connection.end();
      }, graceMs);
      const breaking = setTimeout(() => {
        for (const connection of connections) connection.terminate();
      }, graceMs + handshakeMs);
      await emptied.promise;
      clearTimeout(ending);
      clearTimeout(breaking);
    }
    clearInterval(rechecks);
    server.closing.removeEventListener('abort', drain);
    sockets.close(closeCodes.goingAway, 'The server closes');
    unroute();
  };
  let closed: Promise<void> | undefined;
  return {
    get url() {
      return entry.url;
    },
    get connections() {
      return connections.size;
    },
    close({ graceMs = 10_000 } = {}) {
      closed ??= shutDown(graceMs);
      return closed;
    },
  };
}

/** What every socket keeps to. `maxBytes`: of a message. */
const socketSettings = (options: typeof webSocketOptions, maxBytes: number): SocketSettings => ({
  ...options,
  sameHost: false,
  sockets: options.connections,
  socketsPerCaller: options.connectionsPerCaller,
  idleCode: closeCodes.goingAway,
  subprotocol: SUBPROTOCOL,
  maxBytes,
});

/** The interface in the card of a server, from when its address is known. */
function cardEntry(
  server: CallTarget,
  listener: Server,
  path: string,
  { url, aliases }: Pick<typeof webSocketOptions, 'url' | 'aliases'>,
) {
  /** The address; undefined if it is not known, or not yet. */
  let listed: string | undefined;
  let unlists: (() => void)[] = [];
  const onListening = () => list(url ?? addressOf(listener, path));
  if (url !== undefined || listener.listening) onListening();
  else listener.once('listening', onListening);

  function list(url: string | undefined): void {
    listed = url;
    if (url === undefined) return;
    unlists = [WEBSOCKET_BINDING, ...aliases].map((protocolBinding) =>
      server.addInterface({ url, protocolBinding, protocolVersion: PROTOCOL_VERSION }),
    );
  }

  return {
    get url() {
      return listed;
    },
    remove(): void {
      listener.off('listening', onListening);
      for (const unlist of unlists.splice(0)) unlist();
    },
  };
}

/** The address of a listener; undefined for one that listens on all addresses, or on none. */
function addressOf(listener: Server, path: string): string | undefined {
  const at = listener.address() as AddressInfo | string | null;
  if (at === null || typeof at === 'string') return undefined;
  const { address, family, port } = at;
  if (address === '0.0.0.0' || address === '::') return undefined;
  const scheme = 'setSecureContext' in listener ? 'wss' : 'ws';
  return `${scheme}://${family === 'IPv6' ? `[${address}]` : address}:${port}${path}`;
}
