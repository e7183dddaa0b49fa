import { dailyUsage } from '@batonjs/operator';
import { describe, expect, it } from 'vitest';
import { closedAfterTest } from '../kit/closed-after-test.ts';
import { node, run } from '../kit/processes.ts';
import { builtProgram } from '../support/built-program.ts';
import { openStore } from './open-store.ts';
import { storePlaces } from './store-places.ts';

const places = await storePlaces();
const spend = await builtProgram(new URL('./spend.ts', import.meta.url));
/** What one process has under way. */
const atOnce = 3;

/** Each stands for 20 calls. */
const budgets = [
  { dailyTokensPerCaller: 200 },
  { dailyTokens: 200 },
  { dailyCostPerCaller: { USD: 0.2 } },
  { dailyCost: { EUR: 1, USD: 0.2 } },
  { tokensPerContext: 200 },
];

describe.each(places.kinds)('a budget, on %s', (kind) => {
  it.each(budgets)('holds over two processes, within the calls under way: %o', async (limits) => {
    const address = places.address(kind);
    const args = [spend, JSON.stringify(address), JSON.stringify(limits), String(atOnce)];
    const processes = [run(node, args), run(node, args)];
    const counts = await Promise.all(
      processes.map(async (each) => {
        expect(await each.ended, each.output).toBe(0);
        return Number(each.output);
      }),
    );
    const calls = counts[0]! + counts[1]!;
    expect(calls).toBeGreaterThanOrEqual(20);
    // The call that reaches the limit is one of those under way.
    expect(calls).toBeLessThan(20 + 2 * atOnce);
    const rows = await dailyUsage(closedAfterTest(openStore(address)), 'spends');
    expect(rows).toHaveLength('tokensPerContext' in limits ? 0 : 2);
    for (const row of rows)
      expect(row).toMatchObject({ day: '2026-01-02', tokens: 10 * calls, costs: { USD: 10_000 * calls } });
  });
});
