import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { keepAliveMs } from '@batonjs/server/adapter';

/** A connection that a server of `node:http` or `node:https` accepted. Other runtimes do not name the server. */
type Accepted = Socket & { readonly server?: Server };

/** The default of Node.js, in milliseconds. */
const defaultMs = 5_000;

/** Keeps the idle connections of a server for `keepAliveMs`, unless its owner chose otherwise. */
export function keepAlive({ server }: Accepted): void {
  if (server?.keepAliveTimeout !== defaultMs) return;
  server.keepAliveTimeout = keepAliveMs;
  streamsOf(server);
}

/** Ends a stream when its server begins to close, which would otherwise wait for as long as the task runs. */
export function endWithServer(res: ServerResponse): void {
  const server = (res.socket as Accepted | null)?.server;
  // A client that has just left has no connection any more.
  if (!server) return;
  const streams = streamsOf(server);
  streams.add(res);
  res.once('close', () => streams.delete(res));
}

const streamsOfServers = new WeakMap<Server, Set<ServerResponse>>();

/** The open streams of a server. Node.js has no event for the moment at which it begins to close: `close` is replaced once. */
function streamsOf(server: Server): Set<ServerResponse> {
  const known = streamsOfServers.get(server);
  if (known) return known;
  const streams = new Set<ServerResponse>();
  streamsOfServers.set(server, streams);
  const { close } = server;
  server.close = function (...args) {
    close.apply(this, args);
    // It waits for connections that become idle from here on, too.
    server.keepAliveTimeout = 1;
    // Not before: it breaks off the connections of answers that have ended, whether all was sent or not.
    for (const stream of streams) stream.end();
    return server;
  };
  return streams;
}
