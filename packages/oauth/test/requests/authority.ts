import type { AgentCard, SecurityScheme } from '@batonjs/protocol';
import { type OAuthClient, type OAuthOptions, oauth } from '../../src/index.ts';

export const issuer = 'https://id.example/tenant';
export const tokenUrl = `${issuer}/token`;

/** A request as the authorization server gets it. */
export interface Asked {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly form: Readonly<Record<string, string>>;
}

type Answer = object | ((asked: Asked) => object | Promise<object>);

/**
 * The `fetch` of an authorization server that notes what it is asked. `answers` by URL: the JSON of an answer, or a
 * `Response`. All others are 404.
 */
export function authority(answers: Readonly<Record<string, Answer>> = {}) {
  const asked: Asked[] = [];
  const fetch = async (request: Request): Promise<Response> => {
    const { method, url } = request;
    const form = Object.fromEntries(new URLSearchParams(await request.text()));
    const one = { method, url, headers: Object.fromEntries(request.headers), form };
    asked.push(one);
    const answer = answers[url];
    if (answer === undefined) return new Response(null, { status: 404 });
    const given = await (typeof answer === 'function' ? (answer as (one: Asked) => object)(one) : answer);
    return given instanceof Response ? given : Response.json(given);
  };
  return { asked, fetch, urls: () => asked.map(({ url }) => url) };
}

/** The metadata of the issuer, and where it is. */
export const metadata = (more: object = {}) => ({
  [`${issuer}/.well-known/openid-configuration`]: {
    issuer,
    token_endpoint: tokenUrl,
    authorization_endpoint: `${issuer}/auth`,
    device_authorization_endpoint: `${issuer}/device`,
    ...more,
  },
});

/** A token that the server gives. */
export const token = (name: string, more: object = {}) => ({
  access_token: name,
  token_type: 'Bearer',
  expires_in: 3_600,
  ...more,
});

/** A scheme that leads to the metadata of the issuer. */
export const login: SecurityScheme = {
  openIdConnectSecurityScheme: { openIdConnectUrl: `${issuer}/.well-known/openid-configuration` },
};

/** A scheme with the endpoints of a server in the card, for one flow. */
export const withFlow = (flow: string, more: object = {}): SecurityScheme =>
  ({
    oauth2SecurityScheme: {
      flows: {
        [flow]: {
          tokenUrl,
          scopes: {},
          ...(flow === 'authorizationCode' && { authorizationUrl: `${issuer}/auth` }),
          ...(flow === 'deviceCode' && { deviceAuthorizationUrl: `${issuer}/device` }),
          ...more,
        },
      },
    },
  }) as unknown as SecurityScheme;

/** A card that requires one scheme, `s`. */
export const cardWith = (scheme: SecurityScheme, scopes: readonly string[] = []): AgentCard =>
  ({
    securitySchemes: { s: scheme },
    securityRequirements: [{ schemes: { s: { list: scopes } } }],
  }) as unknown as AgentCard;

/** The request of a client to an agent with this card. */
export const requestTo = (card: AgentCard) => ({ url: 'https://agent.example/rpc', isTrusted: true, card });

/** A person who confirms: the redirect has a code. */
export const confirming =
  (seen: URL[] = []): NonNullable<OAuthOptions['authorize']> =>
  async (begin) => {
    const url = await begin('http://127.0.0.1:8/callback');
    seen.push(url);
    const answer = new URLSearchParams({ code: 'the-code', state: url.searchParams.get('state')! });
    return `http://127.0.0.1:8/callback?${answer}`;
  };

/** What the token endpoint is asked for an agent with this scheme, and the header that the agent gets. */
export async function asked(
  scheme: SecurityScheme,
  client: Partial<OAuthClient>,
  more: Partial<OAuthOptions> & {
    readonly metadata?: object;
    readonly answers?: object;
    readonly scopes?: string[];
  } = {},
) {
  const { metadata: extra, answers, scopes, ...options } = more;
  const server = authority({ ...metadata(extra), [tokenUrl]: token('one'), ...answers });
  const clients = { [issuer]: { clientId: 'me', ...client } };
  const credentials = oauth({ clients, fetch: server.fetch, ...options });
  const headers = await credentials(requestTo(cardWith(scheme, scopes)));
  return { server, headers, credentials, last: server.asked.at(-1)! };
}
