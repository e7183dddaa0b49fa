import type { IncomingMessage } from 'node:http';

/** How many bytes of an unread body the server takes after the answer. */
const mostDropped = 4 * 1_048_576;

/**
 * Drops the rest of the body of a request that is answered now. Then the connection can carry the next request, and
 * a client that is still sending gets its answer. Node.js would drop a body without an end for minutes: beyond 4 MiB,
 * the connection is broken.
 */
export function dropRest(req: IncomingMessage): void {
  if (req.complete || req.readableDidRead) return;
  let dropped = 0;
  req.on('data', ({ length }: Buffer) => {
    dropped += length;
    if (dropped > mostDropped) req.destroy();
  });
  // The client may leave first.
  req.on('error', () => {});
}
