import type { Head } from '@batonjs/lifecycle';
import { mustBePositive } from '../defaults.ts';

/** How long some tasks are kept: those for which all of its conditions hold. */
export interface RetentionRule {
  /** Tasks that have this label when they end. */
  readonly label?: string;
  /** Tasks one of whose messages named the skill with this id. */
  readonly skill?: string;
  /** As `closedAfterMs` above. `Infinity`: for 200 years. */
  readonly closedAfterMs: number;
}

/** 200 years: a time that every store can keep and compare. */
const longestMs = 200 * 365 * 24 * 60 * 60 * 1_000;

/**
 * How much longer than others a task is kept that ended with this head, in milliseconds; negative: shorter. The first rule
 * that fits counts.
 */
function keptLonger(
  closedAfterMs: number,
  rules: readonly RetentionRule[],
  { labels, skills }: Head,
): number | undefined {
  const rule = rules.find(
    ({ label, skill }) =>
      (label === undefined || labels?.includes(label)) && (skill === undefined || skills?.includes(skill)),
  );
  if (!rule) return undefined;
  return Math.min(rule.closedAfterMs, longestMs) - Math.min(closedAfterMs, longestMs);
}

/** `keptLonger` by these rules, if there are any: a task that ends asks for none else. Throws `TypeError` for rules that cannot work. */
export function rulesOf(
  { closedAfterMs, rules }: { closedAfterMs: number; rules?: readonly RetentionRule[] } = {
    closedAfterMs: 0,
  },
): ((head: Head) => number | undefined) | undefined {
  if (rules === undefined) return undefined;
  if (!Array.isArray(rules)) throw new TypeError('`retention.rules` must be an array');
  for (const [n, rule] of rules.entries()) {
    const name = `retention.rules[${n}]`;
    mustBePositive(name, { closedAfterMs: Object(rule).closedAfterMs });
    if (rule.label === undefined && rule.skill === undefined)
      throw new TypeError(`\`${name}\` needs \`label\` or \`skill\``);
  }
  return rules.length === 0 ? undefined : (head) => keptLonger(closedAfterMs, rules, head);
}
