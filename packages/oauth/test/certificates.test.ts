import { createServer } from 'node:https';
import type { TLSSocket } from 'node:tls';
import type { AgentCard } from '@batonjs/protocol';
import { Agent, fetch as fetchWith } from 'undici';
import { expect, it, onTestFinished } from 'vitest';
import { authorityOf } from '../../../test/support/certificate.ts';
import { oauth } from '../src/index.ts';
import { audience, failureOf, schemes } from './agent.ts';
import { startAuthorizationServer } from './authorization-server.ts';

const authority = authorityOf('Authority of the tests');

/** A `fetch` that trusts the authority, and presents a certificate if it has one. */
function certified(name?: string) {
  const { key, cert } = name === undefined ? {} : authority.issue(name);
  const dispatcher = new Agent({ connect: { ca: authority.cert, ...(key && { key, cert }) } });
  onTestFinished(() => dispatcher.close());
  return async (request: Request) => {
    const { url, method, headers, redirect } = request;
    const body = request.body ? await request.text() : null;
    const init = { method, headers: [...headers], redirect, body, dispatcher };
    return (await fetchWith(url, init)) as unknown as Response;
  };
}

it('a certificate stands for the client at the authorization server, together with another scheme [R-AUTH-04]', async () => {
  const server = createServer({
    ...authority.issue('localhost'),
    ca: authority.cert,
    requestCert: true,
    rejectUnauthorized: false,
  });
  const socketOf = (context: { req: { socket: unknown } }) => context.req.socket as TLSSocket;
  const id = await startAuthorizationServer(audience, {
    server,
    more: {
      clients: [
        {
          client_id: 'machine',
          token_endpoint_auth_method: 'tls_client_auth',
          tls_client_auth_subject_dn: 'CN=machine',
          grant_types: ['client_credentials'],
          redirect_uris: [],
          response_types: [],
        },
      ],
      clientAuthMethods: ['tls_client_auth'],
      features: {
        mTLS: {
          enabled: true,
          tlsClientAuth: true,
          getCertificate: (context) => socketOf(context).getPeerX509Certificate()?.toString(),
          certificateAuthorized: (context) => socketOf(context).authorized,
          certificateSubjectMatches: (context, _property, expected) =>
            expected === `CN=${socketOf(context).getPeerCertificate().subject.CN}`,
        },
      },
    },
  });
  onTestFinished(() => id.close());
  const card = {
    securitySchemes: { ...schemes(id.issuer), tls: { mtlsSecurityScheme: {} } },
    securityRequirements: [{ schemes: { tls: {}, machine: { list: ['read'] } } }],
  } as unknown as AgentCard;
  const request = { url: `${audience}/`, card, isTrusted: true };
  const clients = { [id.issuer]: { clientId: 'machine', certificate: true } };
  const headers = await oauth({ clients, fetch: certified('machine') })(request);
  expect(headers).toEqual({ authorization: expect.stringMatching(/^Bearer ey/) });
  for (const name of [undefined, 'another'])
    expect(
      await failureOf(Promise.resolve(oauth({ clients, fetch: certified(name) })(request))),
    ).toMatchObject({
      code: 'REFUSED',
      reason: 'invalid_client',
    });
  expect(await failureOf(Promise.resolve(oauth({ clients })(request)))).toMatchObject({ code: 'NETWORK' });
});
