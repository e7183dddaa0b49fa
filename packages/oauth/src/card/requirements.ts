import type { AgentCard, SecurityRequirement } from '@batonjs/protocol';

/** Schemes with the scopes of each, all of which one request must satisfy. */
export type Alternative = ReadonlyMap<string, readonly string[]>;

/**
 * The alternatives that a card leaves to a caller of these skills: one of the card's and one of each skill's, together.
 * Empty if the card requires nothing. Spec: §4.4.5, §4.5.
 */
export function alternativesOf(card: AgentCard, skillIds: readonly string[]): readonly Alternative[] {
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
export const schemesAlone = ({ securitySchemes = {} }: AgentCard): readonly Alternative[] =>
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
