import type { Head } from '@batonjs/lifecycle';

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
export function keptLonger(
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
