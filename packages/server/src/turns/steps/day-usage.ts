import { costsWith, type Usage } from '@batonjs/lifecycle';
import { A2AError } from '@batonjs/protocol/errors';
import type { RecordStore, Scope } from '@batonjs/store';
import type { Logger } from '../../base/hooks/logger.ts';
import type { Limits } from '../../base/limits.ts';
import { allRecords, changeRecord, recordName } from '../../base/store/records.ts';
import { type Clock, isoTime } from '../../base/timing/clock.ts';

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

/** Where the usage of a day is kept. */
export interface DaySource {
  readonly store: Pick<RecordStore, 'getRecord' | 'putRecord'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly logger: Logger;
  readonly queue: string;
  readonly limits: Pick<Limits, `daily${'Tokens' | 'Cost'}${'' | 'PerCaller'}`>;
}

const kind = 'usage';
const dayMs = 86_400_000;
const keptMs = 400 * dayMs;
const mostModels = 50;

const dayOf = (ms: number): string => isoTime(ms).slice(0, 10);

/** The rows of a call, with their limits; none where nothing is counted by the day. */
function rowsOf({ limits }: DaySource, scope: Scope) {
  const { dailyTokens, dailyTokensPerCaller, dailyCost, dailyCostPerCaller } = limits;
  const rows = [
    { limited: limitedBy(dailyTokens, dailyCost), whose: '' },
    { scope, limited: limitedBy(dailyTokensPerCaller, dailyCostPerCaller), whose: ' one caller' },
  ];
  return rows.some(({ limited }) => limited.length > 0) ? rows : [];
}

/** What a row may not have used for another call. */
const limitedBy = (tokens: number, costs: Limits['dailyCost'] = {}) =>
  [
    { what: 'tokens', most: tokens, usedIn: (row: DayUsage) => row.tokens },
    ...Object.entries(costs).map(([currency, most]) => ({
      what: `money (${currency})`,
      most,
      usedIn: (row: DayUsage) => (row.costs?.[currency] ?? 0) / 1_000_000,
    })),
  ].filter(({ most }) => most !== Number.POSITIVE_INFINITY);

/** Rejects with `RESOURCE_EXHAUSTED`, and the time until the day is over, if the agent or the caller has nothing left. */
export async function mustHaveTokensToday(source: DaySource, scope: Scope): Promise<void> {
  const now = source.clock.now();
  for (const { scope: caller, limited, whose } of rowsOf(source, scope)) {
    if (limited.length === 0) continue;
    const record = await source.store.getRecord(recordName(kind, source.queue, dayOf(now), caller ?? ''));
    const row = (record?.value ?? { tokens: 0 }) as DayUsage;
    const used = limited.find(({ most, usedIn }) => usedIn(row) >= most);
    if (!used) continue;
    const why = `The models of this agent have used the ${used.what} of this day (UTC) that it allows${whose}`;
    throw new A2AError('RESOURCE_EXHAUSTED', why, { retryAfter: Math.ceil((dayMs - (now % dayMs)) / 1_000) });
  }
}

/** Adds what a call used to the day, for the agent and for the caller. Says in the log if that fails, and never rejects. */
export async function countToday(source: DaySource, scope: Scope, usage: Usage): Promise<void> {
  const { queue, store, logger } = source;
  const day = dayOf(source.clock.now());
  const add = (row: { readonly scope?: Scope }) =>
    changeRecord<DayUsage>(
      store,
      recordName(kind, queue, day, row.scope ?? ''),
      (before) => withUsage(before ?? { day, agent: queue, scope: row.scope, tokens: 0, models: {} }, usage),
      { ttlMs: keptMs, scope: row.scope },
    ).catch((error: unknown) =>
      logger('error', 'The usage of a model was not counted for its day', { error }),
    );
  await Promise.all(rowsOf(source, scope).map(add));
}

function withUsage(row: DayUsage, usage: Usage): DayUsage {
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
  const prefix = recordName(kind, agent, '');
  const records = await allRecords(store, { prefix, after: `${prefix}${since}` });
  return records.map(({ value }) => value as DayUsage);
}
