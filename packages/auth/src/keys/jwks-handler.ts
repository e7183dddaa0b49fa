import type { IncomingMessage, ServerResponse } from 'node:http';
import type { JWK } from 'jose';
import { publicKeys } from './public-keys.ts';

/**
 * Creates a handler that publishes the public halves of keys, for Express (`app.get('/.well-known/jwks.json',
 * jwksHandler([key]))`) and for `node:http`. Clients may cache the response for 5 minutes: publish a new key at least
 * that long before you sign with it. Removing a key revokes it. Throws `TypeError` for a secret without a public half.
 */
export function jwksHandler(
  keys: readonly JWK[],
): (request: Pick<IncomingMessage, 'method'>, response: ServerResponse) => void {
  const body = JSON.stringify(publicKeys(keys));
  return ({ method = 'GET' }, response) => {
    if (method !== 'GET' && method !== 'HEAD') {
      response.writeHead(405, { allow: 'GET, HEAD' }).end();
      return;
    }
    response.writeHead(200, {
      'content-type': 'application/jwk-set+json',
      'cache-control': 'public, max-age=300',
      'access-control-allow-origin': '*',
    });
    response.end(method === 'HEAD' ? undefined : body);
  };
}
