import { userInfo } from 'node:os';
import type { Command } from 'commander';
import { toTexts } from '../flags/key-values.ts';
import type { Run } from '../run.ts';
import type { RunContext } from '../run-context.ts';
import { openStore } from './open-store.ts';
import type { ScopeFlags } from './tasks.ts';

/** Flags that say what a fork begins with. */
export interface ForkFlags extends ScopeFlags {
  readonly from: string;
  readonly message?: string;
  readonly setLabel?: readonly string[];
  readonly by?: string;
}

/** Adds `fork` to a command that has the flags of a store. */
export function addFork(tasks: Command, run: Run): void {
  tasks
    .command('fork')
    .description('make a task that goes on from a point of another one, which stays as it is')
    .argument('<task-id>', 'the task')
    .option('--from <point>', 'start, the name of a step, or a position of its log', 'start')
    .option('--message <text>', 'from the start: what it says instead; otherwise: the next message')
    .option(
      '--set-label <label>',
      'a label of the new task in place of the old ones; may be repeated',
      toTexts,
    )
    .option('--by <name>', 'who asks, for the log; the user of this process if it is not given')
    .addHelpText(
      'after',
      '\nExample:\n  $ baton tasks --store sqlite:.data/expense.db --agent expense fork 3f2a --from pay\n',
    )
    .action(run<ForkFlags>(forkTask));
}

async function forkTask({ options, output, io }: RunContext<ForkFlags>, taskId: string): Promise<void> {
  const { agent, tenant, caller } = options;
  const { store } = await openStore(options.store, io.cwd);
  try {
    const { forkStored, scopeOf } = await import('@batonjs/server/internals');
    const scope = scopeOf(agent, tenant, { scope: caller });
    const id = await forkStored({ scope, taskId }, forkRequest(options), { store, queue: agent });
    if (output.isJson) return output.json({ taskId: id, from: taskId });
    output.field('Task ID', id);
    output.field('Fork of', taskId);
  } finally {
    await store.close();
  }
}

/** What the flags ask for. */
export function forkRequest({ from, message, setLabel, by = operator() }: ForkFlags) {
  return {
    from: /^\d+$/.test(from) ? Number(from) : from,
    by,
    ...(message !== undefined && { message }),
    ...(setLabel && { labels: setLabel }),
  };
}

/** The user of this process, who has the rights of an operator. */
export function operator(): string {
  try {
    return `operator ${userInfo().username}`;
  } catch {
    // A container may have no name for its user.
    return 'operator';
  }
}
