import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** Passes bytes on to a member, and can lose what it answers. */
export interface BrokenProxy {
  readonly url: string;
  /**
   * Once it was sent `text`, all that the member answers is lost, and what it is sent arrives. The connections end as
   * soon as the predicate holds; new ones then work, unless `forever`.
   */
  loseAnswers(text: string, until: () => Promise<boolean>, options?: { forever: boolean }): Promise<void>;
  close(): Promise<void>;
}

export async function startBrokenProxy(port: number): Promise<BrokenProxy> {
  const sockets = new Set<Socket>();
  let isLosing = false;
  let awaited: { text: string; sent: () => void } | undefined;
  let isDead = false;
  const server = createServer((client) => {
    if (isDead) return void client.destroy();
    const upstream = connect(port, '127.0.0.1');
    client.on('data', (bytes: Buffer) => {
      if (awaited && bytes.includes(awaited.text)) {
        isLosing = true;
        awaited.sent();
      }
      upstream.write(bytes);
    });
    upstream.on('data', (bytes) => {
      if (!isLosing) client.write(bytes);
    });
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${address.port}`,
    async loseAnswers(text, until, { forever } = { forever: false }) {
      const { promise, resolve } = Promise.withResolvers<void>();
      awaited = { text, sent: resolve };
      await promise;
      awaited = undefined;
      while (!(await until())) await new Promise((resolve) => setTimeout(resolve, 5));
      isDead = forever;
      for (const socket of sockets) socket.destroy();
      isLosing = false;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
