import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import Provider, { type ClientMetadata, type Configuration } from 'oidc-provider';

/** The scopes of the agents in the tests. */
export const allScopes = 'read write admin';

export const secret = 'the-secret-of-the-machine';

const clients: ClientMetadata[] = [
  {
    client_id: 'machine',
    client_secret: secret,
    grant_types: ['client_credentials'],
    redirect_uris: [],
    response_types: [],
    scope: allScopes,
  },
  {
    client_id: 'narrow',
    client_secret: secret,
    grant_types: ['client_credentials'],
    redirect_uris: [],
    response_types: [],
    scope: 'read',
  },
  {
    client_id: 'program',
    application_type: 'native',
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code', 'refresh_token'],
    redirect_uris: ['http://127.0.0.1/callback'],
  },
  {
    client_id: 'device',
    application_type: 'native',
    token_endpoint_auth_method: 'none',
    grant_types: ['urn:ietf:params:oauth:grant-type:device_code', 'refresh_token'],
    redirect_uris: [],
    response_types: [],
  },
];

/** A real authorization server on this machine. */
export interface AuthorizationServer {
  readonly issuer: string;
  readonly provider: Provider;
  /** What it was asked, such as `POST /token`. */
  readonly asked: string[];
  /** Whether the person refuses. */
  isRefusing: boolean;
  /** What the `fetch` of a browser does: keeps cookies and follows redirects, to the end of the flow. */
  browse(url: URL | string): Promise<URL>;
  close(): Promise<void>;
}

/** Starts an authorization server whose person, `ada`, confirms everything. Its tokens are for `audience`. */
export async function startAuthorizationServer(
  audience: string,
  { more = {}, server = createServer() }: { more?: Configuration; server?: Server } = {},
): Promise<AuthorizationServer> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const scheme = 'setSecureContext' in server ? 'https' : 'http';
  const issuer = `${scheme}://127.0.0.1:${port}`;
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const configuration: Configuration = {
    clients,
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    jwks: {
      keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'ES256', kid: 'one' }],
    } as never,
    cookies: { keys: ['for tests'] },
    findAccount: (_context, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    issueRefreshToken: (_context, client) => client.grantTypeAllowed('refresh_token'),
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    scopes: ['openid', 'offline_access', ...allScopes.split(' ')],
    extraParams: ['audience'],
    ttl: {
      AccessToken: 3_600,
      ClientCredentials: 3_600,
      DeviceCode: 600,
      Grant: 86_400,
      IdToken: 600,
      Interaction: 600,
      RefreshToken: 86_400,
      Session: 600,
    },
    ...more,
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      deviceFlow: { enabled: true },
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: true,
        // Some servers take the audience of a token from a parameter of their own.
        defaultResource: (context) => String(context.oidc.params?.audience ?? audience),
        useGrantedResource: () => true,
        getResourceServerInfo: (_context, resource) => ({
          scope: allScopes,
          audience: resource,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'ES256' } },
        }),
      },
      ...more.features,
    },
  };
  const provider = new Provider(issuer, configuration);
  const asked: string[] = [];

  const confirm = async (request: IncomingMessage, response: ServerResponse) => {
    if (started.isRefusing)
      return provider.interactionFinished(request, response, { error: 'access_denied' });
    const { params } = await provider.interactionDetails(request, response);
    const grantId = await grant(provider, String(params.client_id), String(params.resource ?? audience));
    const result = { login: { accountId: 'ada' }, consent: { grantId } };
    return provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
  };

  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    asked.push(`${request.method} ${request.url?.split('?', 1)[0]}`);
    if (!request.url?.startsWith('/interaction/')) return provider.callback()(request, response);
    confirm(request, response).catch((error) => response.destroy(error));
  });

  const started: AuthorizationServer = {
    issuer,
    provider,
    asked,
    isRefusing: false,
    async browse(start) {
      let url = new URL(start);
      const cookies = new Map<string, string>();
      for (let hops = 0; hops < 20; hops += 1) {
        if (url.origin !== issuer) return url;
        const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
        const response = await fetch(url, { redirect: 'manual', headers: { cookie } });
        for (const line of response.headers.getSetCookie()) {
          const [name = '', value = ''] = line.split(';', 1)[0]!.split('=');
          cookies.set(name, value);
        }
        const location = response.headers.get('location');
        if (!location) throw new Error(`${response.status} ${(await response.text()).slice(0, 300)}`);
        url = new URL(location, url);
      }
      throw new Error('The flow does not end');
    },
    async close() {
      server.close().closeAllConnections();
    },
  };
  return started;
}

/** What `ada` allows a client. */
async function grant(provider: Provider, clientId: string, audience: string): Promise<string> {
  const allowed = new provider.Grant({ accountId: 'ada', clientId });
  allowed.addOIDCScope(`openid offline_access ${allScopes}`);
  allowed.addResourceScope(audience, allScopes);
  return allowed.save();
}

/** Does what the page of the server does when `ada` confirms a code of a device. */
export async function confirmDevice(
  { provider }: AuthorizationServer,
  audience: string,
  userCode: string,
): Promise<void> {
  const code = await provider.DeviceCode.findByUserCode(userCode.replace('-', ''), {});
  if (!code) throw new Error('There is no such code');
  const { scope, resource } = code.params as { scope?: string; resource?: string };
  Object.assign(code, {
    accountId: 'ada',
    grantId: await grant(provider, 'device', audience),
    scope,
    resource: resource ?? audience,
  });
  await code.save();
}
