import type { AgentCard } from '@batonjs/protocol';
import { CliError } from '../errors/cli-error.ts';

/** The credentials that the user gave. */
export interface GivenCredentials {
  readonly bearer?: string | undefined;
  readonly apiKey?: string | undefined;
  /** A client certificate takes part in the TLS handshake. */
  readonly hasCertificate?: boolean;
}

/** Where credentials stand in a request, as the schemes of the card say. */
export interface Attachment {
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  /** Whether a credential was given that no scheme of the card takes. */
  readonly isUnused: boolean;
}

type Scheme = NonNullable<AgentCard['securitySchemes']>[string];

/**
 * Attaches credentials as the card's schemes say. An agent that declares no scheme gets none. Throws
 * `CREDENTIALS_MISSING` if the card requires some and none of its requirements is met.
 */
export function attach(card: AgentCard, given: GivenCredentials): Attachment {
  const schemes = card.securitySchemes ?? {};
  const requirements = (card.securityRequirements ?? []).map((each) => Object.keys(each.schemes ?? {}));
  const attachments = Object.entries(schemes).flatMap(([name, scheme]) => {
    const one = attachOne(scheme, given);
    return one ? [{ name, ...one }] : [];
  });
  const met = new Set(attachments.map(({ name }) => name));
  const satisfied = requirements.find((names) => names.every((name) => met.has(name)));
  if (requirements.length > 0 && !satisfied)
    throw new CliError(
      'A2ACLI_ERR_CREDENTIALS_MISSING',
      `${card.name} requires ${requirements.map((names) => names.join(' and ')).join(', or ')}`,
    );
  // Of several requirements, one is enough: no other agent's habit should spread a secret further than asked.
  const used = satisfied ? attachments.filter(({ name }) => satisfied.includes(name)) : attachments;
  const isGiven = given.bearer !== undefined || given.apiKey !== undefined;
  return {
    headers: Object.assign({}, ...used.map(({ headers }) => headers)),
    query: Object.assign({}, ...used.map(({ query }) => query)),
    isUnused: isGiven && used.length === 0,
  };
}

interface Placed {
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
}

/** Where a scheme takes its credential; undefined if it was not given. */
function attachOne(scheme: Scheme, { bearer, apiKey, hasCertificate }: GivenCredentials): Placed | undefined {
  if ('mtlsSecurityScheme' in scheme) return hasCertificate ? {} : undefined;
  if ('apiKeySecurityScheme' in scheme && scheme.apiKeySecurityScheme) {
    if (apiKey === undefined) return undefined;
    const { location, name } = scheme.apiKeySecurityScheme;
    if (location === 'query') return { query: { [name]: apiKey } };
    return location === 'cookie'
      ? { headers: { cookie: `${name}=${encodeURIComponent(apiKey)}` } }
      : { headers: { [name.toLowerCase()]: apiKey } };
  }
  if (bearer === undefined) return undefined;
  if ('httpAuthSecurityScheme' in scheme && scheme.httpAuthSecurityScheme)
    if (scheme.httpAuthSecurityScheme.scheme.toLowerCase() !== 'bearer') return undefined;
  return { headers: { authorization: `Bearer ${bearer}` } };
}
