import { type State, type Usage, usedTogether } from '@batonjs/lifecycle';
import { A2AError } from '@batonjs/protocol/errors';
import type { RecordStore, Scope } from '@batonjs/store';
import type { Logger } from '../../base/hooks/logger.ts';
import type { Limits } from '../../base/limits.ts';
import { changeRecord, dayMs, keptMs, recordName } from '../../base/store/records.ts';
import type { Clock } from '../../base/timing/clock.ts';
import { type DayUsage, dayOf, usageKind, withUsage } from './day-usage.ts';

type TokenLimit = `tokensPer${'Task' | 'Tree' | 'Context'}` | `dailyTokens${'' | 'PerCaller'}`;
type CostLimit = `costPer${'Task' | 'Tree' | 'Context'}` | `dailyCost${'' | 'PerCaller'}`;

/** The limits of what models may use, where the sums are kept, and who hears of them. */
export interface BudgetSource {
  readonly store: Pick<RecordStore, 'getRecord' | 'putRecord'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly logger: Logger;
  readonly queue: string;
  readonly limits: Pick<Limits, TokenLimit | CostLimit>;
  readonly onEvent?: ((event: BudgetEvent) => void) | undefined;
}

/** The task that calls a model. */
interface Spender {
  readonly live: { readonly scope: Scope; readonly taskId: string };
  readonly state: State;
}

/** Models have used 80 % of a limit of a day or a context, or all of it. Of all processes, one tells it, once. */
export interface BudgetEvent {
  readonly type: 'budget';
  readonly share: 0.8 | 1;
  readonly limit: TokenLimit | CostLimit;
  /** Of a limit of money. */
  readonly currency?: string | undefined;
  /** Tokens, or units of the currency. */
  readonly used: number;
  readonly most: number;
  /** The task that made the call. */
  readonly taskId: string;
  readonly contextId: string;
}

type Sums = Pick<DayUsage, 'tokens' | 'costs'>;

/** What a call counts towards. `used`: what the task itself knows, or the name of the record of the sums. */
function budgetsOf({ limits, queue, clock }: BudgetSource, { live: { scope }, state }: Spender) {
  const { tokens = 0, costs = {}, children = {}, contextId } = state;
  const own = { tokens, costs };
  const tree = Object.values(children).reduce(
    (sum, { usage }) => (usage ? usedTogether(sum, usage) : sum),
    own,
  );
  const today = (who: string) => recordName(usageKind, queue, dayOf(clock.now()), who);
  const ofContext = recordName('context-usage', queue, scope, contextId);
  const ofDay = 'of this day (UTC) that it allows';
  return [
    budget('tokensPerTask', 'costPerTask', 'that it allows one task', own),
    budget('tokensPerTree', 'costPerTree', 'that it allows one task and its children', tree),
    budget('tokensPerContext', 'costPerContext', 'that it allows one context', ofContext, scope),
    budget('dailyTokens', 'dailyCost', ofDay, today('')),
    budget('dailyTokensPerCaller', 'dailyCostPerCaller', `${ofDay} one caller`, today(scope), scope),
  ];

  function budget(ofTokens: TokenLimit, ofCost: CostLimit, what: string, used: Sums | string, whose?: Scope) {
    const money = Object.entries(limits[ofCost] ?? {}).map(([currency, most]) => ({
      ...{ limit: ofCost, currency, most },
      usedIn: (sums: Sums) => (sums.costs?.[currency] ?? 0) / 1_000_000,
    }));
    const all = [
      { limit: ofTokens, currency: '', most: limits[ofTokens], usedIn: (sums: Sums) => sums.tokens },
      ...money,
    ].filter(({ most }) => most !== Number.POSITIVE_INFINITY);
    return { limits: all, what, used, scope: whose, isDaily: ofTokens.startsWith('daily') };
  }
}

/** Rejects with `RESOURCE_EXHAUSTED` if nothing is left of a limit. Its metadata has the reason `BUDGET_EXCEEDED`. */
export async function mustHaveBudget(source: BudgetSource, spender: Spender): Promise<void> {
  for (const { limits, what, used, isDaily } of budgetsOf(source, spender)) {
    if (limits.length === 0) continue;
    const stored = typeof used === 'string' ? (await source.store.getRecord(used))?.value : used;
    const over = limits.find(({ most, usedIn }) => usedIn((stored ?? { tokens: 0 }) as Sums) >= most);
    if (!over) continue;
    const { limit, currency } = over;
    const why = `The models of this agent have used the ${currency ? `money (${currency})` : 'tokens'} ${what}`;
    throw new A2AError('RESOURCE_EXHAUSTED', why, {
      metadata: { reason: 'BUDGET_EXCEEDED', limit, ...(currency && { currency }) },
      ...(isDaily && { retryAfter: Math.ceil((dayMs - (source.clock.now() % dayMs)) / 1_000) }),
    });
  }
}

/** Adds what a call used to the records that have a limit. Says in the log if that fails, and never rejects. */
export async function countUsage(source: BudgetSource, spender: Spender, usage: Usage): Promise<void> {
  const { queue, store, logger, clock, onEvent } = source;
  const task = { taskId: spender.live.taskId, contextId: spender.state.contextId };
  const budgets = budgetsOf(source, spender);
  const isDayCounted = budgets.some(({ limits, isDaily }) => isDaily && limits.length > 0);
  const add = async ({ limits, used: name, scope, isDaily }: (typeof budgets)[number]) => {
    if (typeof name !== 'string' || !(limits.length > 0 || (isDaily && isDayCounted))) return;
    let before: DayUsage = { day: dayOf(clock.now()), agent: queue, scope, tokens: 0, models: {} };
    const decide = (row = before) => {
      before = row;
      return withUsage(row, usage);
    };
    await changeRecord<DayUsage>(store, name, decide, { ttlMs: keptMs, scope });
    for (const { limit, currency, most, usedIn } of limits) {
      const used = usedIn(withUsage(before, usage));
      const share = ([1, 0.8] as const).find((one) => usedIn(before) < one * most && used >= one * most);
      if (share)
        onEvent?.({ type: 'budget', share, limit, ...(currency && { currency }), used, most, ...task });
    }
  };
  const failed = (error: unknown) => logger('error', 'The usage of a model was not counted', { error });
  await Promise.all(budgets.map((budget) => add(budget).catch(failed)));
}
