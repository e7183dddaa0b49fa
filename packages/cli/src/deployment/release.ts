import type { Command } from 'commander';
import { usage } from '../errors/cli-error.ts';
import { addExample } from '../flags/agent-flags.ts';
import type { Run, RunContext } from '../run-context.ts';
import { type ScopeFlags, withStore } from './open-store.ts';
import { mayChange, yesFlag } from './operator.ts';

interface ReleaseFlags extends ScopeFlags {
  readonly of: string;
  readonly yes?: boolean;
}

interface ShareFlags extends ScopeFlags {
  readonly card: string;
}

/** How many tasks one call releases. */
const atOnce = 100;
/** More are not counted before the question. */
const most = 10_000;

/** Adds `release` and `share` to a command that has the flags of a store. */
export function addRelease(tasks: Command, run: Run): void {
  addExample(
    tasks
      .command('release')
      .description('let any version go on with the turns of a version that no process runs any more')
      .requiredOption('--of <version>', 'the version that began the turns')
      .option(...yesFlag),
    'tasks --store sqlite:.data/expense.db --agent expense release --of 2026-11-20',
  ).action(run<ReleaseFlags>(releaseStored));
  addExample(
    tasks
      .command('share')
      .description('let an agent with another card use the tasks of a name, too; once is enough')
      .requiredOption('--card <name>', 'the name in the card of that agent'),
    'tasks --store sqlite:.data/expense.db --agent expense share --card "Expense desk"',
  ).action(run<ShareFlags>(shareStored));
}

async function releaseStored(context: RunContext<ReleaseFlags>): Promise<void> {
  const { agent, of } = context.options;
  const released = await withStore(context, async (store) => {
    if (!store.unpin || !store.pinned) throw usage('The store pins no turns to versions');
    const pinned = () => store.pinned!(agent, of, most);
    if (!(await mayChange(context, async () => ['Release', (await pinned()).length]))) return undefined;
    let sum = 0;
    for (let some = atOnce; some === atOnce; sum += some) some = await store.unpin(agent, of, atOnce);
    return sum;
  });
  if (released === undefined) context.exitCode = 1;
  else context.output.result({ released }, [['Released', released]]);
}

async function shareStored(context: RunContext<ShareFlags>): Promise<void> {
  const { agent, card } = context.options;
  const { shareQueue } = await import('@batonjs/operator');
  await withStore(context, (store) => shareQueue(store, agent, card));
  context.output.result({ shared: agent, card }, [['Shared', `${agent}, with ${card}`]]);
}
