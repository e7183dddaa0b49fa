import type { Credentials, CredentialsRequest } from '@batonjs/client';
import type { AgentCard } from '@batonjs/protocol';
import { remember } from '@batonjs/protocol/bounded-map';
import {
  allowInsecureRequests,
  Configuration,
  customFetch,
  fetchProtectedResource,
  WWWAuthenticateChallengeError,
} from 'openid-client';
import { type Access, checkScopeCount, checkScopes, choose } from './card/access.ts';
import { type OAuthClient, OAuthError, type OAuthOptions } from './options.ts';
import { insecure, isSafeAddress, shown } from './servers/authorization-server.ts';
import type { StoredToken } from './tokens/token-store.ts';
import { type TokenRequest, tokensOf } from './tokens/tokens.ts';

/** The `credentials` of `connect`, from OAuth 2 or OpenID Connect. */
export interface OAuthCredentials extends Credentials {
  /**
   * Gives tokens for an agent these scopes too, from its next request on. For a task that waits in AUTH_REQUIRED.
   * `agent`: any `http:` or `https:` URL of the origin that receives the requests.
   */
  addScopes(agent: string | URL, scopes: readonly string[]): void;
}

/**
 * Gets the tokens that an agent's card asks for, from the authorization servers in `clients`: pass it as the
 * `credentials` of `connect`. Tokens go only to origins that `connect` trusts, over https or to this machine. They are
 * refreshed once for all parallel requests before they expire and when the agent refuses them, and replaced by one with
 * more scopes when the agent asks for that. Throws a `TypeError` for a key of `clients` that is no issuer (https, or http
 * on this machine), for a client without `clientId`, and for an agent that is no URL. Spec: §7.
 */
export function oauth(options: OAuthOptions): OAuthCredentials {
  const tokens = agentTokens(options);
  const credentials: Credentials = async (request) => {
    const token = request.card && (await tokens.tokenFor(request, request.card));
    return token && { authorization: `Bearer ${token.accessToken}` };
  };
  return Object.assign(credentials, {
    addScopes: (agent: string | URL, scopes: readonly string[]) =>
      tokens.addScopes(new URL(agent).origin, scopes),
  });
}

/** The tokens for agents, chosen by their cards. */
function agentTokens(options: OAuthOptions) {
  /** The scopes that were added, by the origin of an agent, or by its origin and a scheme. */
  const added = new Map<string, ReadonlySet<string>>();
  /** The schemes of the tokens that were given out last, by access token. */
  const schemes = new Map<string, string>();
  const clients = normalized(options.clients);
  const tokens = tokensOf(options);

  function addScopes(key: string, scopes: readonly string[]): void {
    added.set(key, new Set([...(added.get(key) ?? []), ...scopes]));
  }

  /** A request for the token of an access, with the scopes that were added. */
  function requestFor(access: Access, agent: string, refused: string | undefined): TokenRequest {
    const { client, scheme } = access;
    const learned = [...(added.get(agent) ?? []), ...(added.get(`${agent} ${scheme}`) ?? [])];
    checkScopes(learned, client);
    const scopes = [...new Set([...access.scopes, ...learned, ...(client.extraScopes ?? [])])];
    return { access, agent, scopes, refused };
  }

  /** A token with the scopes that the agent misses; undefined if there can be none. */
  async function widened(
    request: TokenRequest,
    missing: readonly string[],
  ): Promise<StoredToken | undefined> {
    const { access, agent, scopes, refused } = request;
    checkScopes(missing, access.client);
    if (missing.every((scope) => scopes.includes(scope))) {
      // Another request may have got the better token in the meantime.
      const kept = await tokens.kept(request);
      return kept?.accessToken === refused ? undefined : kept;
    }
    const wider = { ...request, scopes: [...new Set([...scopes, ...missing])] };
    checkScopeCount(wider.scopes);
    const token = await tokens.get(wider).catch(unlessNoFlow);
    // Without a better token, the one that is kept still serves calls that need less.
    if (token) addScopes(`${agent} ${access.scheme}`, missing);
    return token;
  }

  function givenOut(token: StoredToken | undefined, { access }: TokenRequest): StoredToken | undefined {
    if (!token) return undefined;
    remember(schemes, token.accessToken, access.scheme, maximumRemembered);
    return token;
  }

  return {
    addScopes,
    async tokenFor(request: CredentialsRequest, card: AgentCard): Promise<StoredToken | undefined> {
      const { url, isTrusted, challenge } = request;
      const agent = new URL(url).origin;
      const refused = request.refused?.authorization?.replace(/^Bearer /, '');
      const challenges = await bearerChallenges(challenge ?? '');
      // An agent may list more schemes than the one whose token it refused.
      const used = refused && schemes.get(refused);
      const { realm } = challenges.find((one) => used && one.realm === used) ?? challenges[0] ?? {};
      const isRefused = challenge !== undefined;
      const { skills = [] } = options;
      const choice = choose(card, { agent, clients, skills, isRefused, realm });
      const [first] = choice.accesses;
      if (!first) return undefined;
      const problem = problemWith(url, isTrusted);
      if (problem && choice.isOpen && !isRefused) return undefined;
      if (problem) throw problem;
      const requests = choice.accesses.map((access) => requestFor(access, agent, refused));

      const isMissing = challenges.filter(({ error }) => error === 'insufficient_scope');
      const missing = isMissing.find((one) => one.realm === first.scheme) ?? isMissing[0];
      if (missing) return givenOut(await widened(requests[0]!, missing.scopes), requests[0]!);

      for (const wanted of requests) {
        const kept = await tokens.kept(wanted);
        if (kept && kept.accessToken !== refused) return givenOut(kept, wanted);
      }
      if (choice.isOpen && !isRefused) return undefined;
      let failure: unknown;
      for (const wanted of requests) {
        try {
          return givenOut(await tokens.get(wanted), wanted);
        } catch (error) {
          if (!isNoFlow(error)) throw error;
          failure ??= error;
        }
      }
      if (choice.isOptional) return undefined;
      throw failure;
    },
  };
}

/** For so many tokens the scheme is known when the agent refuses one. */
const maximumRemembered = 100;

const isNoFlow = (error: unknown): boolean => error instanceof OAuthError && error.code === 'NO_FLOW';

function unlessNoFlow(error: unknown): undefined {
  if (!isNoFlow(error)) throw error;
}

/** The clients by the URLs of their servers, as `URL` writes them. */
function normalized(clients: OAuthOptions['clients']): ReadonlyMap<string, OAuthClient> {
  return new Map(
    Object.entries(clients).map(([server, client]) => {
      if (!isSafeAddress(server))
        throw new TypeError(
          `The key "${server}" of \`clients\` must be an https URL, or http on this machine`,
        );
      if (server.includes('/.well-known/'))
        throw new TypeError(
          `The key "${server}" of \`clients\` must be the issuer, not where its metadata is`,
        );
      if (typeof client?.clientId !== 'string' || client.clientId === '')
        throw new TypeError(`The client of ${server} needs a \`clientId\``);
      const wrong = client.agents?.find((agent) => !URL.canParse(agent));
      if (wrong !== undefined)
        throw new TypeError(`The client of ${server} lists the agent "${wrong}", which must be a URL`);
      return [new URL(server).href, client];
    }),
  );
}

/** Why no token may travel to an address; undefined if it may. */
function problemWith(url: string, isTrusted: boolean): OAuthError | undefined {
  if (!isSafeAddress(url)) return insecure(url, 'The address of the agent');
  if (isTrusted) return undefined;
  return new OAuthError(
    'NOT_TRUSTED',
    `The card names ${shown(url)}, which gets no token: list its origin in \`trustedOrigins\` if it may have one`,
  );
}

/** What an agent says about a token that it refused. RFC 6750 §3. */
export interface BearerChallenge {
  /** With Baton's servers, the name of the security scheme in the card. */
  readonly realm: string | undefined;
  /** Such as `invalid_token` or `insufficient_scope`. */
  readonly error: string | undefined;
  readonly scopes: readonly string[];
}

/** The `Bearer` challenges of a `WWW-Authenticate` header; none if it is malformed or too long. */
export async function bearerChallenges(header: string): Promise<readonly BearerChallenge[]> {
  if (header === '' || header.length > maximumLength) return [];
  const configuration = new Configuration({ issuer: 'http://localhost' }, 'none');
  allowInsecureRequests(configuration);
  // The library has a parser of challenges, which it offers only for the answer to a request.
  configuration[customFetch] = async () =>
    new Response(null, { status: 401, headers: { 'www-authenticate': header } });
  try {
    await fetchProtectedResource(configuration, 'none', new URL('http://localhost'), 'GET');
    return [];
  } catch (error) {
    if (!(error instanceof WWWAuthenticateChallengeError)) return [];
    return error.cause
      .filter(({ scheme }) => scheme === 'bearer')
      .map(({ parameters: { realm, error: code, scope = '' } }) => ({
        realm,
        error: code,
        scopes: scope.split(' ').filter((name) => /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(name)),
      }));
  }
}

const maximumLength = 8_192;
