import type { AgentCard, AgentSkill } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import { unmetRequirement } from '@batonjs/protocol/security';
import type { Caller } from '../../agent/caller.ts';
import { insufficient } from '../card/security.ts';

/**
 * Refuses a message to a skill whose `securityRequirements` its caller does not meet: UNAUTHENTICATED without a caller,
 * else PERMISSION_DENIED with the missing scopes in `metadata.scope` and in the challenge. Spec: §4.4.5, §7.5.
 */
export function checkSkill(skillId: string | undefined, caller: Caller | undefined, card: AgentCard): void {
  const skill = skillIn(card, skillId);
  const unmet = unmetRequirement(skill?.securityRequirements, caller);
  if (!skill || !unmet) return;
  if (!caller) throw new A2AError('UNAUTHENTICATED', `The skill "${skill.id}" needs credentials`);
  throw insufficient(`The skill "${skill.id}"`, unmet, card, { skill: skill.id });
}

/** The skill of the card with this id. */
export const skillIn = ({ skills }: AgentCard, skillId: string | undefined): AgentSkill | undefined =>
  skillId === undefined ? undefined : skills.find(({ id }) => id === skillId);

/**
 * What the agent learns of its caller: its scope and its claims. Where skills have requirements, also its schemes and scopes, because
 * the agent may choose the skill itself.
 */
export function claimsOf(caller: Caller | undefined, card: AgentCard) {
  if (!caller) return undefined;
  const { scope, schemes, scopes } = caller;
  // Only an answer by a link has this one.
  const { answeredBy: _, ...claims } = caller.claims ?? {};
  if (!card.skills.some(({ securityRequirements }) => securityRequirements?.length))
    return { ...claims, scope };
  return { ...claims, scope, ...(schemes && { schemes: [...schemes] }), scopes: [...(scopes ?? [])] };
}
