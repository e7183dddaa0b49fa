import { isLoopback } from '@batonjs/protocol/headers';
import { chunksOf, readText } from '@batonjs/protocol/json';
import { unlessAborted } from '@batonjs/protocol/timing';
import {
  allowInsecureRequests,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  type CustomFetch,
  customFetch,
  discovery,
  None,
  PrivateKeyJwt,
  type ServerMetadata,
  TlsClientAuth,
} from 'openid-client';
import { type OAuthClient, OAuthError, type OAuthOptions } from '../options.ts';
import { toOAuthError } from './refusals.ts';

/** The endpoints that a card names for a server without metadata. All have the origin of the token URL. */
export interface CardEndpoints {
  readonly tokenUrl: string;
  readonly authorizationUrl?: string | undefined;
  readonly deviceAuthorizationUrl?: string | undefined;
  readonly refreshUrl?: string | undefined;
}

/** How the metadata of an issuer is found: OpenID Connect Discovery or RFC 8414; both, if the card does not say. */
export type Discovery = 'oidc' | 'oauth2' | 'any';

const maximumAgeMs = 3_600_000;

/** Makes the configurations of the library, each with one client. */
export function authorizationServers({ fetch, timeoutMs = 30_000, now = Date.now }: OAuthOptions) {
  const send = guardedFetch(fetch);
  const known = new Map<string, { readonly metadata: Promise<ServerMetadata>; readonly until: number }>();

  /** A configuration that talks through the guard. */
  const configurationOf = (metadata: ServerMetadata, client: OAuthClient): Configuration => {
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
  };

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

  return {
    /** Of an issuer, by its metadata, which is read once an hour. Rejects with `METADATA` for that of another issuer. */
    async discovered(issuer: string, client: OAuthClient, how: Discovery): Promise<Configuration> {
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
      return configurationOf(metadata, client);
    },
    /** Of a server without metadata. */
    described(card: CardEndpoints, client: OAuthClient): Configuration {
      const metadata: ServerMetadata = {
        issuer: card.tokenUrl,
        token_endpoint: card.tokenUrl,
        ...(card.authorizationUrl && { authorization_endpoint: card.authorizationUrl }),
        ...(card.deviceAuthorizationUrl && { device_authorization_endpoint: card.deviceAuthorizationUrl }),
      };
      return configurationOf(metadata, client);
    },
  };
}

const endpointNames = ['authorization_endpoint', 'token_endpoint', 'device_authorization_endpoint'] as const;

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

/** Far more than any metadata or token answer has. */
const maximumBytes = 1_048_576;

/**
 * The `fetch` for authorization servers: it sends to safe addresses only, refuses redirects, and reads at most 1 MiB.
 * Rejects with an `OAuthError`.
 */
const guardedFetch =
  (send: (request: Request) => Promise<Response> = fetch): CustomFetch =>
  async (url, { method, headers, body, signal }) => {
    checkAddress(url, 'An address of the authorization server');
    const failure = (what: string) => new OAuthError('NETWORK', `${shown(url)} ${what}`);
    const init: RequestInit = { method, headers, redirect: 'manual', signal: signal ?? null };
    const exchange = async () => {
      // The form as text: a `fetch` of another copy of undici does not know this `URLSearchParams`.
      const request = new Request(url, body ? { ...init, body: String(body) } : init);
      const response = await send(request).catch(() => {
        throw failure('cannot be reached');
      });
      const { status, headers: received, type } = response;
      if (type === 'opaqueredirect' || (status > 299 && status < 400)) {
        response.body?.cancel().catch(() => {});
        throw new OAuthError('INVALID_ANSWER', `${shown(url)} redirects, which it must not`);
      }
      const text = await readText(chunksOf(response.body), maximumBytes).catch(() => {
        throw failure('breaks off its answer');
      });
      if (text === undefined)
        throw new OAuthError('INVALID_ANSWER', `${shown(url)} answers more than ${maximumBytes} bytes`);
      // The caller is shown what a refusal says, and a server may repeat there what it refuses.
      const said = status < 400 ? text : withoutSecrets(text, headers.authorization, String(body ?? ''));
      return new Response(said === '' ? null : said, { status, headers: [...received] });
    };
    // A `fetch` of the options may not look at the signal, and that of a request is lost when the request is collected.
    if (!signal) return exchange();
    return unlessAborted(exchange(), signal).catch((error) => {
      throw signal.aborted ? failure('does not answer in time') : error;
    });
  };

const secretMembers = [
  'client_secret',
  'client_assertion',
  'code',
  'code_verifier',
  'device_code',
  'refresh_token',
];

/** The fewest characters of a secret: shorter ones stand in too many words. */
const shortestSecret = 8;

/** A text without the secrets that a request had in its form and in `Authorization: Basic`. */
function withoutSecrets(text: string, authorization = '', body: string): string {
  const form = new URLSearchParams(body);
  const [, basic = ''] = /^Basic ([\w+/]+=*)$/.exec(authorization) ?? [];
  const [, password = ''] = /:(.*)/.exec(atob(basic)) ?? [];
  const secrets = [...secretMembers.map((name) => form.get(name) ?? ''), password, formDecoded(password)];
  const hide = (rest: string, secret: string) =>
    secret.length < shortestSecret ? rest : rest.replaceAll(secret, '[redacted]');
  return secrets.reduce(hide, text);
}

/** RFC 6749 §2.3.1: names and secrets are encoded as in a form. */
const formDecoded = (text: string): string => new URLSearchParams(`text=${text}`).get('text') ?? '';

/** Whether secrets may travel to a URL: over TLS, or without leaving this machine. */
export function isSafeAddress(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname } = new URL(url);
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
}

/** Throws `INSECURE_URL` for a URL that secrets may not travel to. `what` names it in the message. */
export function checkAddress(url: string, what: string): void {
  if (!isSafeAddress(url)) throw insecure(url, what);
}

/** The error for a URL that secrets may not travel to. */
export const insecure = (url: string, what: string): OAuthError =>
  new OAuthError('INSECURE_URL', `${what} is ${shown(url)}: it must be https, or http on this machine`);

/** A URL of a card or of metadata in a message: without credentials, and of bounded length. */
export const shown = (url: string): string => {
  if (!URL.canParse(url)) return 'no URL';
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`.slice(0, 200);
};
