import type { Command } from 'commander';
import { usage } from '../errors/cli-error.ts';
import type { Run } from '../run.ts';
import type { RunContext } from '../run-context.ts';
import { openStore } from './open-store.ts';
import type { ScopeFlags } from './tasks.ts';

interface ReleaseFlags extends ScopeFlags {
  readonly of: string;
}

/** How many tasks one call releases. */
const atOnce = 100;

/** Adds `release` to a command that has the flags of a store. */
export function addRelease(tasks: Command, run: Run): void {
  tasks
    .command('release')
    .description('let any version go on with the turns of a version that no process runs any more')
    .requiredOption('--of <version>', 'the version that began the turns')
    .addHelpText(
      'after',
      '\nExample:\n  $ baton tasks --store sqlite:.data/expense.db --agent expense release --of 2026-11-20\n',
    )
    .action(run<ReleaseFlags>(releaseStored));
}

async function releaseStored({ options, output, io }: RunContext<ReleaseFlags>): Promise<void> {
  const { store } = await openStore(options.store, io.cwd);
  try {
    if (!store.unpin) throw usage('The store pins no turns to versions');
    let released = 0;
    for (let some = atOnce; some === atOnce; released += some)
      some = await store.unpin(options.agent, options.of, atOnce);
    if (output.isJson) output.json({ released });
    else output.field('Released', released);
  } finally {
    await store.close();
  }
}

interface ShareFlags extends ScopeFlags {
  readonly card: string;
}

/** Adds `share` to a command that has the flags of a store. */
export function addShare(tasks: Command, run: Run): void {
  tasks
    .command('share')
    .description('let an agent with another card use the tasks of a name, too; once is enough')
    .requiredOption('--card <name>', 'the name in the card of that agent')
    .addHelpText(
      'after',
      '\nExample:\n  $ baton tasks --store sqlite:.data/expense.db --agent expense share --card "Expense desk"\n',
    )
    .action(run<ShareFlags>(shareStored));
}

async function shareStored({ options, output, io }: RunContext<ShareFlags>): Promise<void> {
  const { shareQueue } = await import('@batonjs/operator');
  const { store } = await openStore(options.store, io.cwd);
  try {
    await shareQueue(store, options.agent, options.card);
    if (output.isJson) output.json({ shared: options.agent, card: options.card });
    else output.field('Shared', `${options.agent}, with ${options.card}`);
  } finally {
    await store.close();
  }
}
