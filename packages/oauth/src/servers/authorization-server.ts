import {
  allowInsecureRequests,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  customFetch,
  discovery,
  None,
  PrivateKeyJwt,
  type ServerMetadata,
  TlsClientAuth,
} from 'openid-client';
import { OAuthError } from '../oauth-error.ts';
import type { OAuthClient, OAuthOptions } from '../options.ts';
import { guardedFetch } from './guarded-fetch.ts';
import { toOAuthError } from './refusals.ts';
import { isSafeAddress, shown } from './safe-address.ts';

/** The endpoints that a card names for a server without metadata. All have the origin of the token URL. */
export interface CardEndpoints {
  readonly tokenUrl: string;
  readonly authorizationUrl?: string | undefined;
  readonly deviceAuthorizationUrl?: string | undefined;
  readonly refreshUrl?: string | undefined;
}

/** How the metadata of an issuer is found: OpenID Connect Discovery or RFC 8414; both, if the card does not say. */
export type Discovery = 'oidc' | 'oauth2' | 'any';

/** Makes the configurations of the library, each with one client. */
export interface AuthorizationServers {
  /** Of an issuer, by its metadata, which is read once an hour. Rejects with `METADATA` for that of another issuer. */
  discovered(issuer: string, client: OAuthClient, how: Discovery): Promise<Configuration>;
  /** Of a server without metadata. */
  described(endpoints: CardEndpoints, client: OAuthClient): Configuration;
}

const maximumAgeMs = 3_600_000;

export function authorizationServers({ fetch, timeoutMs = 30_000, now = Date.now }: OAuthOptions) {
  const send = guardedFetch(fetch);
  const known = new Map<string, { readonly metadata: Promise<ServerMetadata>; readonly until: number }>();

  const prepared = (metadata: ServerMetadata, client: OAuthClient): Configuration =>
    configurationOf(metadata, client, send, timeoutMs);

  const read = async (issuer: string, algorithm: 'oidc' | 'oauth2'): Promise<ServerMetadata> => {
    const execute = issuer.startsWith('http:') ? [allowInsecureRequests] : [];
    const options = { algorithm, execute, timeout: timeoutMs / 1_000, [customFetch]: send };
    const found = await discovery(new URL(issuer), 'metadata', undefined, None(), options);
    return found.serverMetadata();
  };

  const readAny = async (issuer: string, how: Discovery): Promise<ServerMetadata> => {
    try {
      if (how !== 'any') return await read(issuer, how);
      return await read(issuer, 'oauth2').catch(() => read(issuer, 'oidc'));
    } catch (error) {
      const { code, message } = toOAuthError(error, `The issuer ${shown(issuer)}`);
      throw new OAuthError(code === 'NETWORK' || code === 'INSECURE_URL' ? code : 'METADATA', message);
    }
  };

  const servers: AuthorizationServers = {
    async discovered(issuer, client, how) {
      const key = `${how} ${issuer}`;
      let entry = known.get(key);
      if (!entry || entry.until <= now()) {
        entry = { metadata: readAny(issuer, how), until: now() + maximumAgeMs };
        known.set(key, entry);
        entry.metadata.catch(() => known.delete(key));
      }
      const metadata = await entry.metadata;
      const insecure = endpointNames.find((name) => metadata[name] && !isSafeAddress(String(metadata[name])));
      if (insecure) throw new OAuthError('INSECURE_URL', `The ${insecure} of ${shown(issuer)} must be https`);
      return prepared(metadata, client);
    },
    described({ tokenUrl, authorizationUrl, deviceAuthorizationUrl }, client) {
      const metadata: ServerMetadata = {
        issuer: tokenUrl,
        token_endpoint: tokenUrl,
        ...(authorizationUrl && { authorization_endpoint: authorizationUrl }),
        ...(deviceAuthorizationUrl && { device_authorization_endpoint: deviceAuthorizationUrl }),
      };
      return prepared(metadata, client);
    },
  };
  return servers;
}

const endpointNames = ['authorization_endpoint', 'token_endpoint', 'device_authorization_endpoint'] as const;

/** A configuration that talks through the guard. */
function configurationOf(
  metadata: ServerMetadata,
  client: OAuthClient,
  send: ReturnType<typeof guardedFetch>,
  timeoutMs: number,
): Configuration {
  const configuration = new Configuration(
    metadata,
    client.clientId,
    { use_mtls_endpoint_aliases: client.certificate === true },
    authenticationOf(client, metadata),
  );
  configuration[customFetch] = send;
  configuration.timeout = timeoutMs / 1_000;
  // The guard lets requests without TLS reach this machine only.
  if (metadata.issuer.startsWith('http:')) allowInsecureRequests(configuration);
  return configuration;
}

/** How the client proves who it is. RFC 6749 §2.3. */
function authenticationOf(
  { clientSecret, privateKey, certificate }: OAuthClient,
  { token_endpoint_auth_methods_supported: methods }: ServerMetadata,
): ClientAuth {
  if (certificate) return TlsClientAuth();
  if (privateKey) return PrivateKeyJwt(privateKey);
  if (!clientSecret) return None();
  const isFormOnly = methods?.includes('client_secret_post') && !methods.includes('client_secret_basic');
  return isFormOnly ? ClientSecretPost(clientSecret) : ClientSecretBasic(clientSecret);
}
