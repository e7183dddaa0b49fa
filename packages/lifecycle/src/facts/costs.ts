import type { Costs, Usage, Used } from './facts.ts';

/** How many millionths a currency has. */
const millionths = 1_000_000;

/** The costs with those of a call. */
export const costsWith = (costs: Costs | undefined, { cost, currency }: Usage): Costs | undefined =>
  cost === undefined || currency === undefined
    ? costs
    : { ...costs, [currency]: (costs?.[currency] ?? 0) + Math.round(cost * millionths) };

/** What two used together. */
export function usedTogether(one: Used, other: Used): Used {
  const costs = { ...one.costs };
  for (const [currency, cost] of Object.entries(other.costs)) costs[currency] = (costs[currency] ?? 0) + cost;
  return { tokens: one.tokens + other.tokens, costs };
}
