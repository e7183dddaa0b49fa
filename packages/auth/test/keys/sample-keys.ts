import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { JWK } from 'jose';
import { onTestFinished } from 'vitest';
import { jwksHandler } from '../../src/index.ts';

/** A fresh private key as a JWK. */
export function newKey(kid: string, curve: 'P-256' | 'P-384' | 'Ed25519' | 'RSA' = 'P-256'): JWK {
  const { privateKey } =
    curve === 'RSA'
      ? generateKeyPairSync('rsa', { modulusLength: 2048 })
      : curve === 'Ed25519'
        ? generateKeyPairSync('ed25519')
        : generateKeyPairSync('ec', { namedCurve: curve });
  return { ...(privateKey.export({ format: 'jwk' }) as JWK), kid, ...(curve === 'RSA' && { alg: 'PS256' }) };
}

/** A server that publishes keys. Tests change the keys and the status of its answers. */
export interface KeyServer {
  readonly url: string;
  keys: JWK[];
  /** The status of its answers, to simulate a failing server. */
  trouble: number | undefined;
  readonly asked: number;
}

/** Publishes keys on a port of this machine until the test is over. */
export async function serveKeys(...keys: JWK[]): Promise<KeyServer> {
  let asked = 0;
  const served = { keys, trouble: undefined as number | undefined };
  const http = createServer((request, response) => {
    asked++;
    if (served.trouble) response.writeHead(served.trouble).end();
    else jwksHandler(served.keys)(request, response);
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    http.closeAllConnections();
    http.close();
  });
  return Object.defineProperties(served, {
    url: { value: `http://127.0.0.1:${(http.address() as AddressInfo).port}/jwks.json` },
    asked: { get: () => asked },
  }) as unknown as KeyServer;
}
