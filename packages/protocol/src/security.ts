import type { SecurityRequirement } from './model/agent-card.ts';

/** What a caller proved about itself. */
export interface Granted {
  /** Names of the card's security schemes that it satisfied. Undefined if only its scopes are known. */
  readonly schemes?: readonly string[] | undefined;
  readonly scopes?: readonly string[] | undefined;
}

/** The requirement that a caller is nearest to, and what it lacks for it: one or both lists have elements. */
export interface UnmetRequirement {
  readonly schemes: readonly string[];
  readonly scopes: readonly string[];
  /** The requirement that the caller is nearest to. */
  readonly requirement: SecurityRequirement;
}

/**
 * The requirement that a caller is nearest to, with what it lacks. Undefined if it meets one of them, or if there are
 * none. Callers whose schemes are unknown are judged by their scopes alone. Spec: §4.4.5, §4.5.
 */
export function unmetRequirement(
  requirements: readonly SecurityRequirement[] = [],
  granted: Granted = {},
): UnmetRequirement | undefined {
  const lacks = requirements.map((requirement) => unmetBy(requirement, granted));
  if (lacks.length === 0 || lacks.some((lack) => sizeOf(lack) === 0)) return undefined;
  return lacks.reduce((best, lack) => (sizeOf(lack) < sizeOf(best) ? lack : best));
}

const sizeOf = ({ schemes, scopes }: UnmetRequirement): number => schemes.length + scopes.length;

function unmetBy(requirement: SecurityRequirement, { schemes, scopes }: Granted): UnmetRequirement {
  const { schemes: required = {} } = requirement;
  const needed = new Set(Object.values(required).flatMap(({ list = [] }) => list));
  return {
    schemes: schemes ? Object.keys(required).filter((name) => !schemes.includes(name)) : [],
    scopes: [...needed].filter((scope) => !scopes?.includes(scope)),
    requirement,
  };
}

/** Whether two texts are the same, in a time that only their lengths decide. */
export function isSameText(one: string, other: string): boolean {
  let difference = one.length ^ other.length;
  for (let index = 0; index < one.length; index++)
    difference |= one.charCodeAt(index) ^ other.charCodeAt(index);
  return difference === 0;
}
