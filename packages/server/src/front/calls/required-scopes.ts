import type { AgentCard } from '@batonjs/protocol';
import { unmetRequirement } from '@batonjs/protocol/security';
import { insufficient } from '../../operations/card/security.ts';
import type { Authenticate } from './caller-limits.ts';

/**
 * `authenticate`, which also refuses callers without the scopes that the card requires of every caller. Callers are judged
 * by the `scopes` that it returns; those without are not judged. The function itself if the card requires no scope. Spec:
 * §7.4.
 */
export function withRequiredScopes(
  authenticate: Authenticate | undefined,
  card: AgentCard,
): Authenticate | undefined {
  const { securityRequirements = [], securitySchemes = {} } = card;
  const lists = securityRequirements.flatMap(({ schemes = {} }) => Object.values(schemes));
  if (!authenticate || !lists.some(({ list }) => list?.length)) return authenticate;
  return async (request) => {
    const caller = await authenticate(request);
    if (!caller?.scopes) return caller;
    const { scopes, schemes } = caller;
    // The card may have other names for the schemes of `authenticate`: only scopes decide then.
    const areKnown = schemes?.length && schemes.every((name) => Object.hasOwn(securitySchemes, name));
    const granted = { scopes, ...(areKnown && { schemes }) };
    const own = securityRequirements.filter(
      ({ schemes: required = {} }) =>
        areKnown && Object.keys(required).every((name) => schemes.includes(name)),
    );
    const unmet = unmetRequirement(own.length > 0 ? own : securityRequirements, granted);
    if (unmet) throw insufficient('This agent', unmet, card);
    return caller;
  };
}
