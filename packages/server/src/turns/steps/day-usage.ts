import { costsWith, type Usage } from '@batonjs/lifecycle';
import type { RecordStore, Scope } from '@batonjs/store';
import { allRecords, recordName } from '../../base/store/records.ts';
import { isoTime } from '../../base/timing/clock.ts';

/** What models used for an agent in one day: for all of its callers, or for one of them. */
export interface DayUsage {
  /** Such as `2026-11-29`: a day of UTC. */
  readonly day: string;
  /** The name of the agent in the store. */
  readonly agent: string;
  /** The agent, tenant and caller, as the tasks of the caller have it; absent for all callers together. */
  readonly scope?: Scope | undefined;
  /** Those that were read and those that were written. */
  readonly tokens: number;
  /** What the calls cost of which that is known: millionths, by currency. */
  readonly costs?: Readonly<Record<string, number>> | undefined;
  /** By the name of a model. Those after the first 50 of the day are counted together as `other`. */
  readonly models: Readonly<
    Record<string, Omit<Usage, 'model' | 'cost' | 'currency'> & Pick<DayUsage, 'costs'>>
  >;
}

export const usageKind = 'usage';
const mostModels = 50;

export const dayOf = (ms: number): string => isoTime(ms).slice(0, 10);

export function withUsage(row: DayUsage, usage: Usage): DayUsage {
  const { model, calls = 1, inputTokens = 0, outputTokens = 0, cachedTokens = 0 } = usage;
  const isNamed = Object.hasOwn(row.models, model) || Object.keys(row.models).length < mostModels;
  const name = isNamed ? model : 'other';
  const before = Object.hasOwn(row.models, name) ? row.models[name]! : {};
  const sum = {
    calls: (before.calls ?? 0) + calls,
    inputTokens: (before.inputTokens ?? 0) + inputTokens,
    outputTokens: (before.outputTokens ?? 0) + outputTokens,
    cachedTokens: (before.cachedTokens ?? 0) + cachedTokens,
    costs: costsWith(before.costs, usage),
  };
  const models = Object.fromEntries([...Object.entries(row.models), [name, sum]]);
  const tokens = row.tokens + inputTokens + outputTokens;
  return { ...row, tokens, costs: costsWith(row.costs, usage), models };
}

/**
 * What models used for an agent since a day (`2026-11-01`, of UTC), by day: first for all callers, then for each. Days that
 * are older than 400 days are gone, and those in which no limit of a day was set are not there.
 */
export async function dailyUsage(
  store: RecordStore,
  agent: string,
  since = '',
): Promise<readonly DayUsage[]> {
  const prefix = recordName(usageKind, agent, '');
  const records = await allRecords(store, { prefix, after: `${prefix}${since}` });
  return records.map(({ value }) => value as DayUsage);
}
