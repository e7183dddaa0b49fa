import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** Passes bytes on between clients and a server of this machine, until the test cuts them. */
export interface TcpProxy {
  readonly port: number;
  /** Passes nothing on any more, in either direction, and closes no connection: a cable that was pulled. */
  freeze(): void;
  /** Passes on again, and what was held back too. */
  thaw(): void;
  /** Ends all connections, and what was held back is lost; new ones are taken. */
  cut(): void;
  /** Resolves when the next client connects. */
  nextClient(): Promise<unknown>;
  close(): Promise<void>;
}

export async function startTcpProxy(target: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let frozen = false;
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1');
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.setNoDelay(true);
      from.on('data', (bytes) => to.write(bytes));
      from.on('error', () => {});
      from.on('close', () => {
        sockets.delete(from);
        if (!frozen) to.destroy();
      });
      if (frozen) from.pause();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    freeze() {
      frozen = true;
      for (const socket of sockets) socket.pause();
    },
    thaw() {
      frozen = false;
      for (const socket of sockets) socket.resume();
    },
    cut() {
      for (const socket of sockets) socket.destroy();
    },
    nextClient: () => once(server, 'connection'),
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
