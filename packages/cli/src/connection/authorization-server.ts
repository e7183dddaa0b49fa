import type { AgentCard } from '@batonjs/protocol';
import { usage } from '../errors/cli-error.ts';
import { originAt } from './open-agent.ts';

/** How `auth login` gets a token: what a server gives to a device that a person confirms, or to a program alone. */
export type LoginFlow = 'device' | 'client-credentials';

/** An authorization server that may get the user's secret and the user's attention, for one scheme of a card. */
export interface ConfirmedServer {
  /** The issuer, or the token URL. */
  readonly server: string;
  /** The scheme alone, so that a token is asked for it and for nothing else. */
  readonly card: AgentCard;
  /** Undefined: those that the metadata of the server lists. */
  readonly flow: LoginFlow | undefined;
}

interface Candidate {
  readonly scheme: string;
  /** The issuers and token URLs by which the card names the server. */
  readonly servers: readonly [string, ...string[]];
  readonly flow: LoginFlow | undefined;
  readonly scopes: readonly string[];
}

/** What decides which server of a card may be asked. */
export interface Confirmation {
  /** The origin of the agent that the user named. */
  readonly origin: string;
  /** The issuer or token URL that the user named; undefined: the servers at the origin of the agent. */
  readonly confirmed: string | undefined;
  readonly flow: LoginFlow | undefined;
  /** Undefined: those of the card. */
  readonly scopes: readonly string[] | undefined;
}

/**
 * The authorization server that the card names, if the user named it too or it has the origin of the agent: a card may
 * name any address, which would get the secret of the client. Throws `USAGE` otherwise.
 */
export function confirmedServer(
  card: AgentCard,
  { origin, confirmed, flow, scopes }: Confirmation,
): ConfirmedServer {
  const candidates = candidatesOf(card);
  const [first] = candidates;
  if (!first) throw noLogin(card);
  const possible = candidates.filter((each) => !flow || !each.flow || each.flow === flow);
  if (possible.length === 0)
    throw usage(
      `The card offers no ${first.flow === 'device' ? 'client credentials' : 'device code'}`,
      `Give --flow ${first.flow}`,
    );
  const wanted = confirmed === undefined ? origin : originAt(confirmed);
  const found = possible.find(({ servers }) => servers.some((server) => originAt(server) === wanted));
  if (!found) {
    const named = possible[0]!.servers[0];
    const not = confirmed === undefined ? `not at ${origin}` : `not ${confirmed}`;
    throw usage(
      `The card names the authorization server ${named}, ${not}: it gets nothing unless you name it`,
      'Give --authorization-server with that address, if it is the one that you trust',
    );
  }
  const own = found.servers.find((server) => originAt(server) === origin) ?? found.servers[0];
  return {
    server: confirmed === undefined ? own : issuerOf(confirmed),
    flow: found.flow,
    card: {
      ...card,
      skills: [],
      securityRequirements: [{ schemes: { [found.scheme]: { list: [...(scopes ?? found.scopes)] } } }],
    },
  };
}

const noLogin = ({ name, securitySchemes = {} }: AgentCard) =>
  Object.keys(securitySchemes).length === 0
    ? usage(`${name} asks for no credentials: it can be called without a login`)
    : usage(`${name} offers no way to log in that this tool knows`, 'Give --bearer or --api-key');

/** The schemes of a card for which this tool can get a token. */
const candidatesOf = ({ securitySchemes = {}, securityRequirements = [] }: AgentCard): Candidate[] =>
  Object.entries(securitySchemes).flatMap(([scheme, given]): Candidate[] => {
    const required = securityRequirements.flatMap(({ schemes = {} }) => schemes[scheme]?.list ?? []);
    const scopesOr = (usual: readonly string[]) => (required.length > 0 ? [...new Set(required)] : usual);
    if ('openIdConnectSecurityScheme' in given && given.openIdConnectSecurityScheme) {
      const { openIdConnectUrl } = given.openIdConnectSecurityScheme;
      return [
        { scheme, servers: [issuerOf(openIdConnectUrl)], flow: undefined, scopes: scopesOr(['openid']) },
      ];
    }
    if (!('oauth2SecurityScheme' in given) || !given.oauth2SecurityScheme) return [];
    const { flows, oauth2MetadataUrl } = given.oauth2SecurityScheme;
    const device = 'deviceCode' in flows ? flows.deviceCode : undefined;
    const client = 'clientCredentials' in flows ? flows.clientCredentials : undefined;
    const offered = device ?? client;
    if (!offered) return [];
    const issuers = oauth2MetadataUrl ? [issuerOf(oauth2MetadataUrl)] : [];
    return [
      {
        scheme,
        servers: [offered.tokenUrl, ...issuers],
        flow: device ? 'device' : 'client-credentials',
        scopes: scopesOr(Object.keys(offered.scopes)),
      },
    ];
  });

/** The issuer of a metadata address; any other address as it is. RFC 8414 §3, OpenID Connect Discovery §4. */
const issuerOf = (url: string): string =>
  url.replace(/\/\.well-known\/(openid-configuration|oauth-authorization-server)/, '');
