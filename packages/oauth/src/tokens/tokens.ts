import { type Configuration, ResponseBodyError, type TokenEndpointResponse } from 'openid-client';
import type { Access } from '../card/access.ts';
import { obtain, possibleFlow, refresh, type TokenParameters } from '../flows/obtain.ts';
import { OAuthError, type OAuthOptions } from '../options.ts';
import { authorizationServers, shown } from '../servers/authorization-server.ts';
import { callOption, failureOf } from '../servers/refusals.ts';
import { isToken, memoryTokenStore, type StoredToken } from './token-store.ts';

/** A token for one agent, which it refused or not. */
export interface TokenRequest {
  readonly access: Access;
  /** The origin of the agent. */
  readonly agent: string;
  readonly scopes: readonly string[];
  /** The access token that the agent refused. */
  readonly refused?: string | undefined;
}

/**
 * In milliseconds. Before this time a token that a person confirmed is not asked for again, and a token that was refreshed
 * is not refreshed again because the agent refuses it.
 */
const recentMs = 60_000;

/** Gets, keeps and refreshes tokens. Parallel requests for the same token share one request to the server. */
export function tokensOf(options: OAuthOptions) {
  const fetching = new Map<string, Promise<StoredToken | undefined>>();
  const servers = authorizationServers(options);
  const store = options.store ?? memoryTokenStore();
  const now = options.now ?? Date.now;

  async function find(key: string, request: TokenRequest): Promise<StoredToken | undefined> {
    const kept = await store.get(key);
    const token = isToken(kept) ? kept : undefined;
    if (token && token.accessToken !== request.refused && !isOver(token)) return token;
    const { access } = request;
    const server = `The authorization server ${shown(access.server)}`;
    try {
      const configuration = await configurationOf(access);
      const parameters = parametersOf(request);
      const hasCredentials = Boolean(
        access.client.clientSecret || access.client.privateKey || access.client.certificate,
      );
      const metadata = configuration.serverMetadata();
      const flow = possibleFlow(access.flow, options, hasCredentials, metadata);
      const isRefused = token !== undefined && token.accessToken === request.refused;
      if (token?.refreshToken && !(flow && isRefused && isRefreshedInVain(token))) {
        const fresh = await refreshed(key, token, request, configuration);
        if (fresh) return fresh;
      }
      if (!flow) throw noFlow(access);
      const isNew = token && isRecent(token.grantedAt ?? token.obtainedAt);
      if (isNew && isRefused && flow !== 'clientCredentials') return undefined;
      return await keep(key, await obtain(flow, configuration, parameters, options));
    } catch (error) {
      throw failureOf(error, server);
    }
  }

  async function configurationOf({ at, client }: Access): Promise<Configuration> {
    if ('endpoints' in at) return servers.described(at.endpoints, client);
    const configuration = await servers.discovered(at.issuer, client, at.how);
    const { token_endpoint: tokenUrl } = configuration.serverMetadata();
    if (tokenUrl === undefined)
      throw new OAuthError('METADATA', `The issuer ${shown(at.issuer)} has no token endpoint`);
    if (at.tokenUrl === undefined || new URL(tokenUrl).href === at.tokenUrl) return configuration;
    throw new OAuthError(
      'NO_CLIENT',
      `The token URL of the card, ${shown(at.tokenUrl)}, is not that of ${shown(at.issuer)}; add it to \`clients\``,
    );
  }

  /** A new token by the refresh token; undefined if the server no longer takes that. */
  async function refreshed(
    key: string,
    { accessToken, refreshToken = '', grantedAt, obtainedAt }: StoredToken,
    request: TokenRequest,
    usual: Configuration,
  ): Promise<StoredToken | undefined> {
    const { at, client } = request.access;
    const refreshUrl = 'endpoints' in at ? at.endpoints.refreshUrl : undefined;
    const configuration = refreshUrl ? servers.described({ tokenUrl: refreshUrl }, client) : usual;
    try {
      return await keep(key, await refresh(configuration, refreshToken, parametersOf(request)), {
        refreshToken,
        grantedAt: grantedAt ?? obtainedAt,
        ...(accessToken === request.refused && { isReplacement: true }),
      });
    } catch (error) {
      if (!(error instanceof ResponseBodyError) || error.error !== 'invalid_grant') throw error;
      // Another process may have used the refresh token in the meantime, and kept its successor.
      const kept = await callOption(() => store.get(key));
      if (isToken(kept) && kept.accessToken !== accessToken && !isOver(kept)) return kept;
      await callOption(() => store.delete(key));
      return undefined;
    }
  }

  /** Keeps the token of an answer. `before`: the members that it has of the token that it was refreshed from. */
  async function keep(
    key: string,
    answer: TokenEndpointResponse,
    before?: Pick<StoredToken, 'refreshToken' | 'grantedAt' | 'isReplacement'>,
  ): Promise<StoredToken> {
    const { access_token: accessToken, token_type: type, expires_in: expiresIn } = answer;
    // A token bound to a key of the client, such as by DPoP, is of no use without that key.
    if (type !== 'bearer' || !/^[\x21-\x7e]+$/.test(accessToken))
      throw new OAuthError('INVALID_ANSWER', 'The authorization server gives no bearer token');
    const obtainedAt = now();
    const token: StoredToken = {
      ...before,
      accessToken,
      obtainedAt,
      ...(expiresIn !== undefined && { expiresAt: obtainedAt + expiresIn * 1_000 }),
      ...(answer.refresh_token && { refreshToken: answer.refresh_token }),
    };
    await callOption(() => store.set(key, token));
    return token;
  }

  /**
   * Whether another refresh would bring no better token than this one, which the agent refuses: it was refreshed just now,
   * or in place of one that the agent refused, and has not ended since.
   */
  function isRefreshedInVain({ grantedAt, obtainedAt, expiresAt, isReplacement }: StoredToken): boolean {
    if (grantedAt === undefined) return false;
    // Without a known end, the agent may refuse the token because it is over.
    return isRecent(obtainedAt) || (isReplacement === true && expiresAt !== undefined);
  }

  const isRecent = (time: number): boolean => now() - time < recentMs;

  /** Whether a token ends so soon that a request might arrive too late. */
  function isOver({ expiresAt, obtainedAt }: StoredToken): boolean {
    if (expiresAt === undefined) return false;
    return now() >= expiresAt - Math.min(30_000, (expiresAt - obtainedAt) / 10);
  }

  return {
    /** The token that is kept, if it is still valid. Never asks a server. */
    async kept(request: TokenRequest): Promise<StoredToken | undefined> {
      const token = await store.get(keyOf(request));
      return isToken(token) && !isOver(token) ? token : undefined;
    },
    /**
     * A valid token that is not the refused one. Resolves to undefined if the agent refuses a token that a person has just
     * confirmed: another one would not be better. Rejects with an `OAuthError`, or with the error of a function in the options.
     */
    get(request: TokenRequest): Promise<StoredToken | undefined> {
      const key = keyOf(request);
      const pending = fetching.get(key);
      if (pending) return pending;
      const started = find(key, request).finally(() => fetching.delete(key));
      fetching.set(key, started);
      return started;
    },
  };
}

/** Of each agent, server, client with its parameters, and set of scopes. */
const keyOf = ({ agent, access, scopes }: TokenRequest): string => {
  const { server, client, flow = '' } = access;
  const { clientId, resource = '', parameters = {} } = client;
  const more = Object.entries(parameters).sort(([a], [b]) => (a < b ? -1 : 1));
  const parts = [agent, server, clientId, flow, resource, [...scopes].sort()];
  return JSON.stringify(more.length > 0 ? [...parts, more] : parts);
};

function parametersOf({ access, agent, scopes }: TokenRequest): TokenParameters {
  const { parameters, resource } = access.client;
  return {
    ...parameters,
    ...(scopes.length > 0 && { scope: scopes.join(' ') }),
    ...(resource !== undefined && { resource: resource === true ? agent : resource }),
  };
}

const noFlow = ({ flow, scheme }: Access): OAuthError => {
  const needs = {
    clientCredentials: 'a client with a secret, a key or a certificate',
    authorizationCode: '`authorize`',
    deviceCode: '`showDeviceCode`',
  };
  const wanted = flow ? needs[flow] : Object.values(needs).join(', or ');
  return new OAuthError('NO_FLOW', `The scheme ${scheme} of the card needs ${wanted}`);
};
