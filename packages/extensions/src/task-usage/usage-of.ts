import type { Task } from '@batonjs/protocol';
import { USAGE } from '../uris.ts';

/** What models used for a task. */
export interface TaskUsage {
  /** Read and written. */
  readonly tokens: number;
  /** Millionths, by currency: `{ USD: 12_300 }`. */
  readonly costs: Readonly<Record<string, number>>;
}

/**
 * What a task and those that it started used, as its agent says; undefined if it says nothing, or numbers that cannot be:
 * tokens and costs are whole numbers from 0 to 10¹⁵, costs of at most 20 currencies.
 */
export function usageOf({ metadata }: Task): TaskUsage | undefined {
  const { tokens, costs } = Object(metadata?.[USAGE]) as Readonly<Record<string, unknown>>;
  const named = Object.entries(Object(costs));
  const isKnown =
    named.length <= 20 && named.every(([name, cost]) => /^[A-Z]{3}$/.test(name) && isCount(cost));
  return isCount(tokens) && isKnown
    ? { tokens, costs: Object.fromEntries(named) as TaskUsage['costs'] }
    : undefined;
}

const isCount = (value: unknown): value is number =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 1e15;
