import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { onTestFinished } from 'vitest';

/** Listens on a free port of this machine until the test ends. Resolves to the origin: `http://127.0.0.1:1234`. */
export async function listen(handler: RequestListener | Server): Promise<string> {
  const server = typeof handler === 'function' ? createServer(handler) : handler;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close().closeAllConnections();
  });
  const { port } = server.address() as { port: number };
  return `http://127.0.0.1:${port}`;
}
