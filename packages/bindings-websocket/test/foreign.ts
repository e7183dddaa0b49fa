import { createServer } from 'node:http';
import { type WebSocket, WebSocketServer } from 'ws';
import { listen } from '../../../test/kit/listen.ts';
import type { Frame } from './raw-socket.ts';

/** A server of another implementation. Resolves to its address. Text is sent as it is, anything else as JSON. */
export async function foreign(
  answer: (frame: Frame, send: (frame: unknown) => void) => void,
  protocol = 'a2a.v1',
  onConnection: (socket: WebSocket) => void = () => {},
): Promise<string> {
  const server = createServer();
  const sockets = new WebSocketServer({ server, handleProtocols: () => protocol || false });
  sockets.on('connection', (socket) => {
    onConnection(socket);
    socket.on('message', (data) =>
      answer(JSON.parse(String(data)), (frame) =>
        socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame)),
      ),
    );
  });
  return (await listen(server)).replace('http', 'ws');
}
