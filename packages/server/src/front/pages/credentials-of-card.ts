import type { AgentCard, SecuritySchemeKind } from '@batonjs/protocol';

/** What a person who calls an agent by hand reads of its credentials. */
export interface CredentialsOfCard {
  /** Empty where the card names no credentials. */
  readonly sentence: string;
  /** Headers with a word in capitals where the credential belongs. None has a character that a shell reads in quotes. */
  readonly headers: readonly string[];
}

/** The credentials of the first way in that a card names: a client needs all schemes of one way. Spec: §4.5. */
export function credentialsOf({
  securityRequirements = [],
  securitySchemes = {},
}: AgentCard): CredentialsOfCard {
  const named = Object.keys(securitySchemes);
  if (named.length === 0) return { sentence: '', headers: [] };
  const ways = securityRequirements.map(({ schemes = {} }) => Object.keys(schemes));
  const [first] = ways;
  if (first === undefined || ways.some((way) => way.length === 0))
    return { sentence: `It may ask for credentials: ${named.join(', ')}.`, headers: [] };
  const headers = first.flatMap((name) => headerOf(securitySchemes[name]) ?? []);
  const each = ways.map((way) => way.join(' and ')).join(', or ');
  const place = headers.length > 0 ? '; put yours where a word stands in capitals' : '';
  return { sentence: `It asks for credentials: ${each}${place}.`, headers };
}

function headerOf(scheme: Partial<SecuritySchemeKind> = {}): string | undefined {
  if (scheme.apiKeySecurityScheme?.location === 'header') {
    const { name } = scheme.apiKeySecurityScheme;
    return /^[\w-]+$/.test(name) ? `${name}: YOUR_KEY` : undefined;
  }
  const kind = scheme.httpAuthSecurityScheme?.scheme.toLowerCase();
  if (kind === 'basic') return 'Authorization: Basic YOUR_USER_AND_PASSWORD_IN_BASE64';
  const isToken = kind === 'bearer' || scheme.oauth2SecurityScheme || scheme.openIdConnectSecurityScheme;
  return isToken ? 'Authorization: Bearer YOUR_TOKEN' : undefined;
}
