import type { AgentCard } from '@batonjs/protocol';
import { OAuthError } from '../oauth-error.ts';
import type { OAuthClient } from '../options.ts';
import { type Access, accessFor } from './access.ts';
import { type Alternative, alternativesOf, schemesAlone } from './requirements.ts';

/** The tokens with which a card's requirements can be met. */
export interface Choice {
  /** In the order of the card; those of the scheme that the agent named come first. */
  readonly accesses: readonly Access[];
  /** Whether callers may do without a token: by other schemes, such as an API key, or anonymously. */
  readonly isOptional: boolean;
  /** Whether the card lets anyone call without credentials. */
  readonly isOpen: boolean;
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
 * Finds the tokens that meet a card's requirements. Throws the `OAuthError` of the first requirement if no client of the
 * options can meet any, and callers cannot do without a token.
 */
export function choose(card: AgentCard, { agent, clients, skills, isRefused, realm }: ChoiceContext): Choice {
  const required = alternativesOf(card, skills);
  const isOpen = required.length === 0 || required.some(({ size }) => size === 0);
  const alternatives = required.length === 0 && isRefused ? schemesAlone(card) : required;
  const accesses: Access[] = [];
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
  accesses.sort((a, b) => Number(b.scheme === realm) - Number(a.scheme === realm));
  return { accesses, isOptional, isOpen };
}
