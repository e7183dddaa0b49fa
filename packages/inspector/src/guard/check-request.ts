import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { hostnameOf, isLoopbackAddress, namesThisMachine } from '@batonjs/bindings';
import { RequestError } from '../http/reply.ts';

/**
 * Refuses requests from other machines if the inspector `isLocal`, requests for another host than this machine and `hosts`
 * (a page whose name leads to this machine), and requests of pages of another origin. Links and files of this machine may
 * lead to the page, which holds no secret. Throws a `RequestError`; nothing was read from the request.
 */
export function checkRequest(request: IncomingMessage, hosts: readonly string[], isLocal: boolean): void {
  const { host = '', origin, 'sec-fetch-site': site } = request.headers;
  if (isLocal && !isLoopbackAddress(request.socket.remoteAddress))
    throw new RequestError(403, 'The inspector answers this machine only');
  const hostname = hostnameOf(host) ?? '';
  if (!namesThisMachine(host) && !hosts.includes(hostname))
    throw new RequestError(421, `The inspector is not served under the name ${hostname || '(none)'}`);
  if (origin !== undefined && URL.parse(origin)?.host !== host)
    throw new RequestError(403, 'Pages of another origin may not use the inspector');
  if (site !== undefined && site !== 'same-origin' && site !== 'none' && !opensPage(request))
    throw new RequestError(403, 'Pages of another site may not use the inspector');
}

/** Whether a browser opens the page as a document of its own, not in a frame and not for a script. */
function opensPage({ method, url = '/', headers }: IncomingMessage): boolean {
  const { 'sec-fetch-mode': mode, 'sec-fetch-dest': destination } = headers;
  const isApi = new URL(url, 'http://inspector').pathname.startsWith('/api/');
  return method === 'GET' && mode === 'navigate' && destination === 'document' && !isApi;
}

/** The given token that opens the inspector, or a random one. Throws `TypeError` for one that could be guessed. */
export function accessToken(text = randomBytes(24).toString('base64url')) {
  if (text.length < 16) throw new TypeError('The token of the inspector must have at least 16 characters');
  const expected = digest(text);
  return {
    text,
    /** Whether an `Authorization` header carries it. Takes the same time for every wrong one. */
    isIn: (authorization = '') =>
      /^Bearer /i.test(authorization) && timingSafeEqual(digest(authorization.slice(7)), expected),
  };
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
