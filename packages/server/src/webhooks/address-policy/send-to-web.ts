import { concat } from '#bytes';
import type * as sockets from './send-to.ts';

/**
 * Sends one request with `fetch`, for runtimes without sockets. The runtime resolves the name again: the connection may
 * go to another address than the policy checked.
 */
export const sendTo: typeof sockets.sendTo = async (
  { url },
  { method, headers, body },
  { signal, maxBytes },
) => {
  const response = await fetch(url, {
    method,
    headers,
    body: body as BodyInit | undefined,
    signal,
    redirect: 'manual',
  });
  const { status } = response;
  return {
    status,
    headers: Object.fromEntries(response.headers),
    ...(await readAtMost(maxBytes, response.body)),
  };
};

async function readAtMost(
  maxBytes: number,
  body: AsyncIterable<Uint8Array> | null,
): Promise<Pick<sockets.Incoming, 'body' | 'complete'>> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  let complete = true;
  try {
    for await (const chunk of body ?? []) {
      length += chunk.byteLength;
      complete = length <= maxBytes;
      if (!complete) break;
      chunks.push(chunk);
    }
  } catch {
    // Aborted or broken off: there is a status all the same.
    complete = false;
  }
  return { body: concat(chunks), complete };
}
