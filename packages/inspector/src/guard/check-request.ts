import type { IncomingMessage } from 'node:http';

/** Why a request is refused before anything is read from it. */
export interface Refusal {
  readonly status: number;
  readonly message: string;
}

/** What a request is checked against. */
export interface RequestRules {
  /** Host names besides those of this machine. */
  readonly hosts: readonly string[];
  /** Whether the request must come from this machine. */
  readonly isLocal: boolean;
}

/**
 * Refuses requests from other machines, requests for another host (a page whose name leads to this machine), and
 * requests of pages of another origin.
 */
export function checkRequest(
  request: IncomingMessage,
  { hosts, isLocal }: RequestRules,
): Refusal | undefined {
  const { host = '', origin, 'sec-fetch-site': site } = request.headers;
  if (isLocal && !isLoopback(request.socket.remoteAddress))
    return refuse('The inspector answers this machine only');
  const hostname = URL.parse(`http://${host}`)?.hostname ?? '';
  if (!isLoopbackName(hostname) && !hosts.includes(hostname))
    return { status: 421, message: `The inspector is not served under the name ${hostname || '(none)'}` };
  if (origin !== undefined && URL.parse(origin)?.host !== host)
    return refuse('Pages of another origin may not use the inspector');
  if (site !== undefined && site !== 'same-origin' && site !== 'none')
    return refuse('Pages of another site may not use the inspector');
  return undefined;
}

/** Whether a socket's address is one of this machine's own. */
export const isLoopback = (address = ''): boolean => /^(::1$|127\.|::ffff:127\.)/.test(address);

const isLoopbackName = (hostname: string): boolean =>
  /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname) || hostname.endsWith('.localhost');

const refuse = (message: string): Refusal => ({ status: 403, message });
