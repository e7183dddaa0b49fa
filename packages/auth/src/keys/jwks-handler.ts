import type { IncomingMessage, ServerResponse } from 'node:http';
import type { JWK } from 'jose';
import { publicKeys } from './public-keys.ts';

/**
 * What publishes the public halves of keys, so that others can verify what they signed: for Express, as in
 * `app.get('/.well-known/jwks.json', jwksHandler([key]))`, and for `node:http`. Before a key is used, publish it for as
 * long as others may cache the set (5 minutes); a key that is taken out is revoked. Throws `TypeError` for secrets
 * that have no public half.
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
