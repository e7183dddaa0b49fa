import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { responseHeaders } from '../guard/response-headers.ts';
import { asItIs, type Hide } from './reply.ts';

/** How often an idle feed sends an empty line, in milliseconds: a proxy closes silent connections. */
const heartbeatMs = 10_000;

/** Answers with a feed: one JSON value per line, as fast as the browser reads. The signal aborts when it leaves. */
export async function streamLines(
  response: ServerResponse,
  feed: (signal: AbortSignal) => AsyncIterable<unknown>,
  hide: Hide = asItIs,
): Promise<void> {
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  // The browser left before the feed began: `close` was emitted already.
  if (response.destroyed) return;
  response.writeHead(200, {
    ...responseHeaders,
    'content-type': 'application/x-ndjson; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  });
  response.write('\n');
  const heartbeat = setInterval(() => response.write('\n'), heartbeatMs);
  try {
    for await (const value of feed(gone.signal)) {
      if (gone.signal.aborted) break;
      if (!response.write(`${hide(JSON.stringify(value))}\n`))
        await once(response, 'drain', { signal: gone.signal }).catch(() => {});
    }
  } finally {
    clearInterval(heartbeat);
    response.end();
  }
}
