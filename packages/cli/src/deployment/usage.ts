import type { DayUsage } from '@batonjs/operator';
import { type Command, Option } from 'commander';
import { addExample, addOutputFlags, type CommonOptions } from '../flags/agent-flags.ts';
import { toDuration } from '../flags/duration.ts';
import { cleanLine } from '../output/clean.ts';
import type { Run, RunContext } from '../run-context.ts';
import { storeText, withStore } from './open-store.ts';

type UsageFlags = CommonOptions<never, 'csv'> & {
  readonly store: string;
  readonly agent: string;
  readonly by: keyof typeof keys;
  readonly since: number;
};

/** Adds `usage`: what the models of an agent used, by the rows of its days. */
export function addUsage(program: Command, run: Run): void {
  const command = program
    .command('usage')
    .description('sum up what the models of an agent used and cost (docs: operating/costs)')
    .requiredOption('--store <url>', storeText)
    .option('--agent <name>', 'the name of the agent in the store', 'agent')
    .addOption(new Option('--by <what>', 'a row for each').choices(Object.keys(keys)).default('day'))
    .option(
      '--since <duration>',
      'from the day (UTC) so long ago, 400 days at most',
      toDuration,
      2_592_000_000,
    )
    .option('--csv', 'write comma-separated values');
  addExample(
    addOutputFlags(command),
    'usage --store sqlite:.data/expense.db --agent expense --by caller --since 30d',
  ).action(run<UsageFlags>(sumUp));
}

/** What stands at the head of a row, by what `--by` names; undefined for a row of a day that is not of this kind. */
const keys = {
  day: ({ scope, day }: DayUsage) => (scope === undefined ? day : undefined),
  caller: ({ scope }: DayUsage) => scope && callerIn(scope),
  model: ({ scope }: DayUsage, model: string) => (scope === undefined ? model : undefined),
};

/** The caller, after its tenant where it has one. The scope of a caller with a long name is a digest, which is all there is. */
function callerIn(scope: string): string {
  if (!scope.startsWith('[')) return scope;
  const [, tenant, caller] = JSON.parse(scope) as [string, string, string];
  return (tenant && `${tenant}/`) + (caller || 'without authentication');
}

const counts = ['calls', 'inputTokens', 'outputTokens', 'cachedTokens'];

/** The sums by row. Costs stand under their currency, in millionths. */
function sumsOf(days: readonly DayUsage[], by: UsageFlags['by']) {
  const sums = new Map<string, Record<string, number>>();
  for (const day of days)
    for (const [model, { costs, ...used }] of Object.entries(day.models)) {
      const key = keys[by](day, model);
      if (key === undefined) continue;
      const sum = sums.get(key) ?? {};
      for (const [name, count = 0] of Object.entries({ ...used, ...costs }))
        sum[name] = (sum[name] ?? 0) + count;
      sums.set(key, sum);
    }
  return sums;
}

async function sumUp(context: RunContext<UsageFlags>): Promise<void> {
  const { options, output } = context;
  const { agent, by } = options;
  const { dailyUsage } = await import('@batonjs/operator');
  const since = new Date(Date.now() - options.since).toISOString().slice(0, 10);
  const sums = sumsOf(await withStore(context, (store) => dailyUsage(store, agent, since)), by);
  const names = [...new Set([...counts, ...[...sums.values()].flatMap((sum) => Object.keys(sum))])];
  const heads = [by, ...names];
  const rows = [...sums].map(([key, sum]) => [
    key,
    ...names.map((name) => (sum[name] ?? 0) / (counts.includes(name) ? 1 : 1_000_000)),
  ]);
  if (rows.length === 0) output.note('Nothing was counted: set a limit, such as `limits.dailyTokens`');
  const document = () => rows.map((row) => Object.fromEntries(heads.map((head, at) => [head, row[at]])));
  if (output.isJson && !options.csv) return output.json({ agent, since, by, rows: document() });
  const table = [heads, ...rows.map((row) => row.map((cell) => cleanLine(`${cell}`)))];
  const widths = heads.map((_, at) => Math.max(...table.map((cells) => cells[at]!.length)));
  const padded = (cell: string, at: number) =>
    at > 0 ? cell.padStart(widths[at]!) : cell.padEnd(widths[0]!);
  const quoted = (cell: string) => (/[",]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
  for (const cells of table)
    output.raw(`${options.csv ? cells.map(quoted).join() : cells.map(padded).join('  ')}\n`);
}
