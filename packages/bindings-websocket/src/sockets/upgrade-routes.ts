import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';

/** The parts of a server of `node:http` or `node:https` on which WebSockets are accepted. */
export type UpgradeListener = Pick<Server, 'on' | 'listenerCount'>;

/** Answers a request to upgrade a connection. */
export type OnUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

const routesOf = new WeakMap<UpgradeListener, Map<string, OnUpgrade>>();

/**
 * Has upgrades of one path answered until the returned function is called. Other paths get 404, unless the listener has
 * further listeners of `upgrade`, which may answer them. Throws a `TypeError` for a path that is taken.
 */
export function routeUpgrades(listener: UpgradeListener, path: string, onUpgrade: OnUpgrade): () => void {
  const routes = routesOf.get(listener) ?? listenTo(listener);
  if (routes.has(path)) throw new TypeError(`WebSockets are served at ${path} already`);
  routes.set(path, onUpgrade);
  return () => void routes.delete(path);
}

function listenTo(listener: UpgradeListener): Map<string, OnUpgrade> {
  const routes = new Map<string, OnUpgrade>();
  routesOf.set(listener, routes);
  listener.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const [path = ''] = (request.url ?? '').split('?');
    const onUpgrade = routes.get(path);
    if (onUpgrade) return void onUpgrade(request, socket, head);
    if (listener.listenerCount('upgrade') === 1) refuseUpgrade(socket, 404);
  });
  return routes;
}

/** Answers an upgrade with a response instead of a WebSocket, and closes its connection. */
export function refuseUpgrade(
  socket: Duplex,
  status: number,
  headers: Readonly<Record<string, string>> = {},
  body = '',
): void {
  const all = { ...headers, 'content-length': String(Buffer.byteLength(body)), connection: 'close' };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.on('error', () => {});
  // A client that leaves its half open would keep the connection.
  socket.once('finish', () => socket.destroy());
  socket.end(`HTTP/1.1 ${status} Refused\r\n${lines.join('')}\r\n${body}`);
}

/** The headers of a request: names in lower case, repeated ones joined with a comma. */
export const headersOf = ({ headers }: IncomingMessage): Record<string, string | undefined> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
  );
