import diagnostics from 'node:diagnostics_channel';
import { createServer, type Socket } from 'node:net';

/** Counts connections: those that arrive here, and those that this process opens. */
export interface Canary {
  readonly port: number;
  /** Connections that arrived at loopback, IPv4 and IPv6. */
  readonly visits: number;
  /** Sockets that this process opened, to any address. */
  readonly attempts: number;
  close(): Promise<void>;
}

const listen = (host: string, port: number, onVisit: (socket: Socket) => void) =>
  new Promise<ReturnType<typeof createServer>>((resolve, reject) => {
    const server = createServer(onVisit).once('error', reject);
    server.listen(port, host, () => resolve(server));
  });

export async function canary(): Promise<Canary> {
  let visits = 0;
  let attempts = 0;
  const onVisit = (socket: Socket) => {
    visits++;
    socket.destroy();
  };
  const onAttempt = () => {
    attempts++;
  };
  const first = await listen('127.0.0.1', 0, onVisit);
  const { port } = first.address() as { port: number };
  // A machine without IPv6 has nothing to protect there.
  const second = await listen('::1', port, onVisit).catch(() => undefined);
  diagnostics.subscribe('net.client.socket', onAttempt);
  return {
    port,
    get visits() {
      return visits;
    },
    get attempts() {
      return attempts;
    },
    async close() {
      diagnostics.unsubscribe('net.client.socket', onAttempt);
      await Promise.all(
        [first, second].map((server) => new Promise((done) => server?.close(done) ?? done(0))),
      );
    },
  };
}
