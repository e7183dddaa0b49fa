import type { AgentCard, SecurityScheme } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import { challenge } from '@batonjs/protocol/headers';
import type { UnmetRequirement } from '@batonjs/protocol/security';

type Security = Pick<AgentCard, 'securitySchemes' | 'securityRequirements'>;

/**
 * The error as callers get it: one for missing credentials names every scheme of the card, unless it has a challenge of
 * its own. Spec: §3.3.2, RFC 9110 §11.6.1.
 */
export function withChallenge(error: A2AError, security: Security): A2AError {
  if (error.reason !== 'UNAUTHENTICATED' || error.challenge) return error;
  const { reason, message, details, metadata, retryAfter, cause } = error;
  const challenge = challengeOf(security);
  return new A2AError(reason, message, { details, metadata, retryAfter, cause, challenge });
}

function challengeOf({ securitySchemes = {}, securityRequirements = [] }: Security): string | undefined {
  const challenges = Object.entries(securitySchemes).flatMap(([name, scheme]) => {
    const scopes = securityRequirements.flatMap(({ schemes }) => schemes?.[name]?.list ?? []);
    const scope = [...new Set(scopes)].join(' ');
    return challengeOfScheme(scheme, { realm: name, ...(scope && { scope }) }) ?? [];
  });
  return challenges.join(', ') || undefined;
}

/**
 * The refusal of a caller whose credentials are not enough for a part of the agent, such as `The skill "x"`: with the
 * missing scopes in `metadata.scope` and in the challenge. Spec: §3.3.2.
 */
export function insufficient(
  part: string,
  unmet: UnmetRequirement,
  security: Security,
  metadata: Readonly<Record<string, string>> = {},
): A2AError {
  const scope = unmet.scopes.join(' ');
  return new A2AError('PERMISSION_DENIED', `${part} needs ${inWords(unmet)}`, {
    metadata: { ...metadata, ...(scope && { scope }) },
    challenge: scopeChallenge(security, unmet),
  });
}

function inWords({ schemes, scopes }: UnmetRequirement): string {
  const named = (what: string, names: readonly string[]) =>
    names.length === 0 ? [] : [`the ${what}${names.length > 1 ? 's' : ''} ${names.join(', ')}`];
  return [...named('scope', scopes), ...named('scheme', schemes)].join(' and ');
}

/**
 * The challenge of a caller whose credentials are not enough: the schemes of the nearest requirement that lack something,
 * each with its own missing scopes. RFC 6750 §3.1.
 */
function scopeChallenge(
  { securitySchemes = {} }: Security,
  { schemes, scopes, requirement }: UnmetRequirement,
): string | undefined {
  const challenges = Object.entries(requirement.schemes ?? {}).flatMap(([realm, { list = [] }]) => {
    const scheme = Object.hasOwn(securitySchemes, realm) ? securitySchemes[realm] : undefined;
    const scope = scopes.filter((name) => list.includes(name)).join(' ');
    if (!scheme || !(scope || schemes.includes(realm))) return [];
    const parameters = { realm, error: 'insufficient_scope', ...(scope && { scope }) };
    return challengeOfScheme(scheme, parameters) ?? [];
  });
  return challenges.join(', ') || undefined;
}

function challengeOfScheme(
  scheme: SecurityScheme,
  parameters: Readonly<Record<string, string>>,
): string | undefined {
  if ('apiKeySecurityScheme' in scheme) {
    const { location, name } = scheme.apiKeySecurityScheme;
    return challenge('ApiKey', { ...parameters, in: location, name });
  }
  if ('httpAuthSecurityScheme' in scheme) return challenge(scheme.httpAuthSecurityScheme.scheme, parameters);
  // A certificate is requested by TLS, before there is a request.
  return 'mtlsSecurityScheme' in scheme ? undefined : challenge('Bearer', parameters);
}

/** Names of the headers that carry credentials, in lower case. */
export function credentialHeaders({ securitySchemes = {} }: Security): string[] {
  const names = Object.values(securitySchemes).flatMap((scheme) => {
    if (!('apiKeySecurityScheme' in scheme)) return 'mtlsSecurityScheme' in scheme ? [] : ['authorization'];
    const { location, name } = scheme.apiKeySecurityScheme;
    return location === 'header' ? [name.toLowerCase()] : location === 'cookie' ? ['cookie'] : [];
  });
  return [...new Set(['authorization', ...names])];
}
