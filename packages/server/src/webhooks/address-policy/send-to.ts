import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { LookupFunction } from 'node:net';
import { type Destination, ipVersion } from './address-policy.ts';

/** The request to send. */
export interface Outgoing {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | undefined;
}

/** The reply. A redirect is a reply like any other. */
export interface Incoming {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Uint8Array;
  /** False if the body was longer than `maxBytes`, or broke off. */
  readonly complete: boolean;
}

/**
 * Sends one request to the addresses of a destination, over a connection of its own, and reads at most `maxBytes` of
 * the reply's body. Rejects if there is no reply before the signal; once there is a status, it resolves.
 */
export async function sendTo(
  { url, host, addresses }: Destination,
  { method, headers, body }: Outgoing,
  { signal, maxBytes }: { readonly signal: AbortSignal; readonly maxBytes: number },
): Promise<Incoming> {
  const isSecure = url.protocol === 'https:';
  // Imported on first use: importing `node:http` as a module loads fetch and HTTP/2 too, 25 ms of every start.
  const { request: open } = await (isSecure ? import('node:https') : import('node:http'));
  return new Promise((resolve, reject) => {
    const request = open({
      host,
      port: url.port || (isSecure ? 443 : 80),
      path: url.pathname + url.search,
      method,
      headers: { ...headers, host: url.host },
      // A name is not resolved again between the check and the connection.
      lookup: pinned(addresses),
      // The certificate is for the name, though the connection goes to an address.
      ...(isSecure && { servername: ipVersion(host) === 0 ? host : '' }),
      // Connections are not reused: another policy may have checked a kept one, or long ago.
      agent: false,
    });
    let onAbort = () => reject(signal.reason);
    let hasStatus = false;
    const stop = () => {
      onAbort();
      request.destroy();
    };
    signal.addEventListener('abort', stop);
    request.on('error', reject);
    request.on('close', () => {
      signal.removeEventListener('abort', stop);
      // A reply that breaks off is one: its own events come after this one.
      if (!hasStatus) reject(Object.assign(new Error('The connection was closed'), { code: 'ECONNRESET' }));
    });
    request.on('response', (response) => {
      hasStatus = true;
      onAbort = readReply(response, maxBytes, (reply) => {
        resolve(reply);
        request.destroy();
      });
    });
    if (signal.aborted) stop();
    else request.end(body);
  });
}

/** Reads at most `maxBytes` of a reply's body. Returns what ends the reading early. */
function readReply(response: IncomingMessage, maxBytes: number, done: (reply: Incoming) => void): () => void {
  const chunks: Uint8Array[] = [];
  let length = 0;
  const settle = (complete: boolean) =>
    done({
      status: response.statusCode ?? 0,
      headers: response.headers,
      body: Buffer.concat(chunks),
      complete,
    });
  const breakOff = () => settle(false);
  response.on('data', (chunk: Uint8Array) => {
    length += chunk.byteLength;
    if (length > maxBytes) breakOff();
    else chunks.push(chunk);
  });
  response.on('end', () => settle(true));
  response.on('error', breakOff);
  response.on('close', breakOff);
  return breakOff;
}

const pinned =
  (addresses: readonly string[]): LookupFunction =>
  (_name, options, callback) => {
    const all = addresses.map((address) => ({ address, family: ipVersion(address) }));
    const [first] = all;
    if (!first) callback(Object.assign(new Error('No address'), { code: 'ENOTFOUND' }), '', 0);
    else if (options.all) callback(null, all);
    else callback(null, first.address, first.family);
  };
