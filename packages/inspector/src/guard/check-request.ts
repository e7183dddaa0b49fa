import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
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

/** A token that opens the inspector. */
export interface AccessToken {
  readonly text: string;
  /** Whether an `Authorization` header carries it. Takes the same time for every wrong one. */
  isIn(authorization: string | undefined): boolean;
}

/** The given token, or a random one. Throws `TypeError` for one that could be guessed. */
export function accessToken(text = randomBytes(24).toString('base64url')): AccessToken {
  if (text.length < 16) throw new TypeError('The token of the inspector must have at least 16 characters');
  const expected = digest(text);
  return {
    text,
    isIn: (authorization = '') =>
      /^Bearer /i.test(authorization) && timingSafeEqual(digest(authorization.slice(7)), expected),
  };
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
