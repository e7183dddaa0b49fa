import type { AgentCard, OAuthFlow, SecurityRequirement, SecurityScheme } from '@batonjs/protocol';
import { type OAuthClient, OAuthError } from '../options.ts';
import { type CardEndpoints, checkAddress, type Discovery, shown } from '../servers/authorization-server.ts';

/** The flows that this package performs. The specification deprecates the others. */
export type Flow = 'clientCredentials' | 'authorizationCode' | 'deviceCode';

/**
 * The authorization server of an access: an issuer, whose metadata must have the token URL of the card if that is how it
 * was found, or the endpoints of the card.
 */
export type ServerOfCard =
  | { readonly issuer: string; readonly how: Discovery; readonly tokenUrl?: string }
  | { readonly endpoints: CardEndpoints };

/** What token an agent asks for, and of which server, with the client of the options. */
export interface Access {
  /** Of the security scheme in the card. */
  readonly scheme: string;
  /** The key in `clients`. */
  readonly server: string;
  readonly client: OAuthClient;
  readonly at: ServerOfCard;
  /** Undefined: any that the server's metadata lists. */
  readonly flow: Flow | undefined;
  readonly scopes: readonly string[];
}

/**
 * What token meets an alternative of the card; undefined if no scheme of it is about tokens. A request carries one token,
 * so several schemes must be of one client. Throws an `OAuthError` if no client of the options may get the token.
 */
function accessFor(
  alternative: Alternative,
  card: AgentCard,
  agent: string,
  clients: ReadonlyMap<string, OAuthClient>,
): Access | undefined {
  const found = [...alternative].flatMap(([name, scopes]) => {
    const scheme = Object.hasOwn(card.securitySchemes ?? {}, name) ? card.securitySchemes?.[name] : undefined;
    if (!scheme || !isAboutTokens(scheme)) return [];
    return { ...matchOf(name, scheme, clients), scheme: name, scopes: [...scopes] };
  });
  const [first, ...others] = found;
  if (!first) return undefined;
  if (others.some(({ server, flow }) => server !== first.server || flow !== first.flow))
    throw new OAuthError('NO_CLIENT', 'The card asks for tokens of two servers in one request');
  const { client } = first;
  if (client.agents && !client.agents.some((origin) => new URL(origin).origin === agent))
    throw new OAuthError('NO_CLIENT', `The client of ${first.server} is not for the agent at ${agent}`);
  const scopes = [...new Set(found.flatMap((access) => access.scopes))];
  checkScopes(scopes, client);
  return { ...first, scopes };
}

/** More than any agent needs. A token is kept for each set of scopes, and an agent may ask for one more with each call. */
const maximumScopes = 100;

/** Throws `SCOPE_NOT_ALLOWED` for more scopes than that. */
export function checkScopeCount({ length }: readonly string[]): void {
  if (length <= maximumScopes) return;
  throw new OAuthError('SCOPE_NOT_ALLOWED', `The agent asks for more than ${maximumScopes} scopes`);
}

/** Throws `SCOPE_NOT_ALLOWED` for a scope that is not among those of the client, if it lists any. */
export function checkScopes(scopes: readonly string[], { scopes: allowed }: OAuthClient): void {
  const refused = allowed && scopes.find((scope) => !allowed.includes(scope));
  if (refused !== undefined)
    throw new OAuthError('SCOPE_NOT_ALLOWED', `The agent asks for the scope ${refused.slice(0, 100)}`);
}

/** Whether a scheme is one of OAuth or OpenID Connect. All others are met by the headers of `connect` or by its TLS. */
const isAboutTokens = (scheme: SecurityScheme): boolean =>
  'oauth2SecurityScheme' in scheme || 'openIdConnectSecurityScheme' in scheme;

type Match = Pick<Access, 'server' | 'client' | 'at' | 'flow'>;

function matchOf(name: string, scheme: SecurityScheme, clients: ReadonlyMap<string, OAuthClient>): Match {
  if ('openIdConnectSecurityScheme' in scheme) {
    const { openIdConnectUrl } = scheme.openIdConnectSecurityScheme;
    const match = byMetadata(openIdConnectUrl, clients, 'oidc');
    if (!match) throw noClient(name, openIdConnectUrl);
    return { ...match, flow: undefined };
  }
  if (!('oauth2SecurityScheme' in scheme)) throw new TypeError(`${name} is not about tokens`);
  const { flows, oauth2MetadataUrl } = scheme.oauth2SecurityScheme;
  const [flow, given] = Object.entries(flows ?? {})[0] ?? [];
  if (!isFlow(flow)) throw new OAuthError('NO_FLOW', `The scheme ${name} of the card offers no flow in use`);
  const endpoints = given as CardEndpoints;
  const match =
    (oauth2MetadataUrl ? byMetadata(oauth2MetadataUrl, clients, 'oauth2') : undefined) ??
    byTokenUrl(endpoints, clients);
  if (!match) throw noClient(name, oauth2MetadataUrl || endpoints.tokenUrl);
  return { ...match, flow };
}

const isFlow = (flow: string | undefined): flow is Flow & keyof OAuthFlow =>
  flow === 'clientCredentials' || flow === 'authorizationCode' || flow === 'deviceCode';

const noClient = (scheme: string, url: string) =>
  new OAuthError(
    'NO_CLIENT',
    `The scheme ${scheme} of the card names ${shown(url)}, whose authorization server is not in \`clients\``,
  );

/** The issuer whose metadata has this URL. The URL itself is never asked: the card may be a stranger's. */
function byMetadata(
  url: string,
  clients: ReadonlyMap<string, OAuthClient>,
  usual: 'oidc' | 'oauth2',
): Omit<Match, 'flow'> | undefined {
  if (!URL.canParse(url)) return undefined;
  const { href } = new URL(url);
  for (const [server, client] of clients) {
    const { origin, pathname } = new URL(server);
    const path = pathname.replace(/\/$/, '');
    const oidc = `${origin}${path}/.well-known/openid-configuration`;
    const oauth2 = [
      `${origin}/.well-known/oauth-authorization-server${path}`,
      `${origin}${path}/.well-known/oauth-authorization-server`,
    ];
    const how = href === oidc ? 'oidc' : oauth2.includes(href) ? 'oauth2' : undefined;
    const isIssuer = href === new URL(server).href;
    if (how || isIssuer) return { server, client, at: { issuer: server, how: how ?? usual } };
  }
  return undefined;
}

/** The server with this token URL: a key, or an issuer of the same origin whose metadata must then name the URL. */
function byTokenUrl(
  endpoints: CardEndpoints,
  clients: ReadonlyMap<string, OAuthClient>,
): Omit<Match, 'flow'> | undefined {
  const { tokenUrl } = endpoints;
  if (!URL.canParse(tokenUrl)) return undefined;
  const { href, origin } = new URL(tokenUrl);
  const exact = clients.get(href);
  if (exact) {
    checkOrigins(endpoints, origin);
    return { server: href, client: exact, at: { endpoints } };
  }
  const [server, client] =
    [...clients]
      .filter(([issuer]) => new URL(issuer).origin === origin)
      .sort(([a], [b]) => shared(b, href) - shared(a, href))[0] ?? [];
  if (server === undefined || !client) return undefined;
  return { server, client, at: { issuer: server, how: 'any', tokenUrl: href } };
}

/** How many characters two URLs have in common: issuers of one origin differ in their paths. */
function shared(issuer: string, url: string): number {
  const end = [...issuer].findIndex((character, index) => character !== url[index]);
  return end === -1 ? issuer.length : end;
}

/** A card may combine the token URL of a known server with an address of its own, to which the person would be sent. */
function checkOrigins(endpoints: CardEndpoints, origin: string): void {
  for (const name of ['tokenUrl', 'authorizationUrl', 'deviceAuthorizationUrl', 'refreshUrl'] as const) {
    const url = endpoints[name];
    if (!url) continue;
    checkAddress(url, `The ${name} of the card`);
    if (new URL(url).origin !== origin)
      throw new OAuthError('NO_CLIENT', `The ${name} of the card, ${shown(url)}, is not at ${origin}`);
  }
}

/** What the choice depends on besides the card. */
export interface ChoiceContext {
  /** The origin of the agent. */
  readonly agent: string;
  readonly clients: ReadonlyMap<string, OAuthClient>;
  /** Ids. */
  readonly skills: readonly string[];
  /** Whether the agent has refused a request. */
  readonly isRefused: boolean;
  /** The scheme that the refusal named. */
  readonly realm?: string | undefined;
}

/**
 * Finds the tokens with which a card's requirements can be met. Throws the `OAuthError` of the first requirement if no client of the
 * options can meet any, and callers cannot do without a token.
 */
export function choose(card: AgentCard, { agent, clients, skills, isRefused, realm }: ChoiceContext) {
  const required = alternativesOf(card, skills);
  /** Whether the card lets anyone call without credentials. */
  const isOpen = required.length === 0 || required.some(({ size }) => size === 0);
  const alternatives = required.length === 0 && isRefused ? schemesAlone(card) : required;
  const accesses: Access[] = [];
  /** Whether callers may do without a token: by other schemes, such as an API key, or anonymously. */
  let isOptional = isOpen;
  let failure: unknown;
  const add = (alternative: Alternative) => {
    try {
      const access = accessFor(alternative, card, agent, clients);
      if (access) accesses.push(access);
      else isOptional = true;
    } catch (error) {
      if (!(error instanceof OAuthError)) throw error;
      failure ??= error;
    }
  };
  for (const alternative of alternatives) add(alternative);
  // A skill may require a scheme that the card itself does not.
  if (realm !== undefined && !accesses.some(({ scheme }) => scheme === realm)) add(new Map([[realm, []]]));
  if (accesses.length === 0 && !isOptional && failure) throw failure;
  // In the order of the card; those of the scheme that the agent named come first.
  accesses.sort((a, b) => Number(b.scheme === realm) - Number(a.scheme === realm));
  return { accesses, isOptional, isOpen };
}

/** Schemes with the scopes of each, all of which one request must satisfy. */
type Alternative = ReadonlyMap<string, readonly string[]>;

/**
 * The alternatives that a card leaves to a caller of these skills: one of the card's and one of each skill's, together.
 * Empty if the card requires nothing. Spec: §4.4.5, §4.5.
 */
function alternativesOf(card: AgentCard, skillIds: readonly string[]): readonly Alternative[] {
  const chosen = card.skills?.filter(({ id }) => skillIds.includes(id)) ?? [];
  const lists = [card.securityRequirements, ...chosen.map((skill) => skill.securityRequirements)]
    .map((list) => list ?? [])
    .filter(({ length }) => length > 0);
  if (lists.length === 0) return [];
  return lists
    .map((list) => list.slice(0, maximumAlternatives).map(toAlternative))
    .reduce((left, right) => left.flatMap((a) => right.map((b) => both(a, b))).slice(0, maximumAlternatives));
}

/** Every scheme of the card on its own: for cards that require nothing, whose agents ask for a token all the same. */
const schemesAlone = ({ securitySchemes = {} }: AgentCard): readonly Alternative[] =>
  Object.keys(securitySchemes).map((name) => new Map([[name, []]]));

/** Cards come from strangers, and combinations multiply. */
const maximumAlternatives = 64;

const toAlternative = ({ schemes = {} }: SecurityRequirement): Alternative =>
  new Map(Object.entries(schemes).map(([name, { list = [] } = {}]) => [name, list]));

const both = (a: Alternative, b: Alternative): Alternative => {
  const merged = new Map(a);
  for (const [name, scopes] of b) merged.set(name, [...new Set([...(merged.get(name) ?? []), ...scopes])]);
  return merged;
};
