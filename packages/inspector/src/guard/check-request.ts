import type { IncomingMessage } from 'node:http';
import { hostnameOf, isLoopbackAddress, namesThisMachine } from '@batonjs/bindings';

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
 * requests of pages of another origin. Links and files of this machine may lead to the page, which holds no secret.
 */
export function checkRequest(
  request: IncomingMessage,
  { hosts, isLocal }: RequestRules,
): Refusal | undefined {
  const { host = '', origin, 'sec-fetch-site': site } = request.headers;
  if (isLocal && !isLoopbackAddress(request.socket.remoteAddress))
    return refuse('The inspector answers this machine only');
  const hostname = hostnameOf(host) ?? '';
  if (!namesThisMachine(host) && !hosts.includes(hostname))
    return { status: 421, message: `The inspector is not served under the name ${hostname || '(none)'}` };
  if (origin !== undefined && URL.parse(origin)?.host !== host)
    return refuse('Pages of another origin may not use the inspector');
  if (site !== undefined && site !== 'same-origin' && site !== 'none' && !opensPage(request))
    return refuse('Pages of another site may not use the inspector');
  return undefined;
}

/** Whether a browser opens the page as a document of its own, not in a frame and not for a script. */
function opensPage({ method, url = '/', headers }: IncomingMessage): boolean {
  const { 'sec-fetch-mode': mode, 'sec-fetch-dest': destination } = headers;
  const isApi = new URL(url, 'http://inspector').pathname.startsWith('/api/');
  return method === 'GET' && mode === 'navigate' && destination === 'document' && !isApi;
}

const refuse = (message: string): Refusal => ({ status: 403, message });
