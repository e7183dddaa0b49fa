import type { Server } from 'node:http';
import { attachWebSocket, type WebSocketEndpoint } from '@batonjs/bindings-websocket';
import type { Exhibit } from './exhibit.ts';

/**
 * Serves every agent over WebSocket at `/agents/<name>/ws` of the listener, to clients outside of browsers. `perMinute`
 * limits the messages of each connection.
 */
export const attachWebSockets = (
  listener: Server,
  exhibits: readonly Exhibit[],
  perMinute: number | undefined,
): WebSocketEndpoint[] =>
  exhibits.map(({ name, url, server }) =>
    attachWebSocket(server, listener, {
      path: `/agents/${name}/ws`,
      url: `${url.replace(/^http/, 'ws')}/ws`,
      ...(perMinute !== undefined && { messagesPerSecond: perMinute / 60, burst: perMinute }),
    }),
  );
