import { sendTo } from '#send-to';
import { type AddressPolicyOptions, addressPolicy } from './address-policy.ts';

/** The options of a request to an untrusted URL. */
export interface SafeFetchOptions extends AddressPolicyOptions {
  /** Default `GET`. */
  readonly method?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: string | Uint8Array | undefined;
  /** How long the request may take in all, in milliseconds. Default 10,000. */
  readonly timeoutMs?: number | undefined;
  /** Bytes of the reply's body. Default 1 MiB. */
  readonly maxBytes?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Like `fetch`, for untrusted URLs: connects only to public addresses and listed ones, resolves the name once and
 * connects to the checked addresses, follows no redirects, and reads the whole reply, up to `maxBytes`. Rejects with
 * `AddressRefused`, or with the error of the connection.
 */
export async function safeFetch(url: string, options: SafeFetchOptions = {}): Promise<Response> {
  const { method = 'GET', headers = {}, body, timeoutMs = 10_000, maxBytes = 1024 * 1024 } = options;
  const late = AbortSignal.timeout(timeoutMs);
  const signal = options.signal ? AbortSignal.any([late, options.signal]) : late;
  const destination = await addressPolicy(options).destination(url, signal);
  const reply = await sendTo(destination, { method, headers, body }, { signal, maxBytes });
  signal.throwIfAborted();
  if (!reply.complete) throw new RangeError(`The reply is longer than ${maxBytes} bytes, or broke off`);
  const entries = Object.entries(reply.headers).flatMap(([name, value]): [string, string][] =>
    (Array.isArray(value) ? value : [value ?? '']).map((one) => [name, one]),
  );
  const hasBody = ![101, 204, 205, 304].includes(reply.status) && method !== 'HEAD';
  return new Response(hasBody ? new Uint8Array(reply.body) : null, {
    status: reply.status,
    headers: entries,
  });
}

/**
 * The `fetch` of a client of an agent, for servers: what the agent's card or a redirect names outside of the origin of
 * `agent` must be an address that the policy accepts. Follows no redirects: the client does, with the same `fetch`. Rejects
 * with `AddressRefused`. The runtime resolves a name again when it connects.
 */
export function checkedFetch(
  agent: string | URL,
  options: AddressPolicyOptions = {},
): (request: Request) => Promise<Response> {
  const policy = addressPolicy(options);
  const { origin } = new URL(agent);
  return async (request) => {
    if (new URL(request.url).origin !== origin) await policy.destination(request.url, request.signal);
    return fetch(new Request(request, { redirect: 'manual' }));
  };
}
