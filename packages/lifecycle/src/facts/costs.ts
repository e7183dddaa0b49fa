import type { Usage } from './facts.ts';

/** Money by currency, in millionths of it: whole numbers, so that sums do not drift. */
type Costs = Readonly<Record<string, number>>;

/** How many of these a currency has. */
const millionths = 1_000_000;

/** The costs with those of a usage. */
export const costsWith = (costs: Costs | undefined, { cost, currency }: Usage): Costs | undefined =>
  cost === undefined || currency === undefined
    ? costs
    : { ...costs, [currency]: (costs?.[currency] ?? 0) + Math.round(cost * millionths) };
