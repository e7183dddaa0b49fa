import type { Command } from 'commander';
import { usage } from '../errors/cli-error.ts';
import { addExample, toTexts } from '../flags/agent-flags.ts';
import type { Run, RunContext } from '../run-context.ts';
import { addBulkFlags, type BulkFlags, pointOf, runBulk } from './bulk.ts';
import { callerOf, withStore } from './open-store.ts';
import { operator } from './operator.ts';

/** Flags that say what a fork begins with. */
interface ForkFlags extends BulkFlags {
  readonly from: string;
  readonly message?: string;
  readonly setLabel?: readonly string[];
}

/** Adds `fork` to a command that has the flags of a store. */
export function addFork(tasks: Command, run: Run): void {
  const command = tasks
    .command('fork')
    .description('make a task that goes on from a point of another one, which stays as it is; or of many')
    .argument('[task-id]', 'the task; without it, those that the flags say')
    .option('--from <point>', 'start, the name of a step, or a position of its log', 'start')
    .option('--message <text>', 'from the start: what it says instead; otherwise: the next message')
    .option(
      '--set-label <label>',
      'a label of the new task in place of the old ones; may be repeated',
      toTexts,
    );
  addExample(
    addBulkFlags(command),
    'tasks --store sqlite:.data/expense.db --agent expense fork 3f2a --from pay',
  ).action(run<ForkFlags>(forkTask));
}

async function forkTask(context: RunContext<ForkFlags>, taskId?: string): Promise<void> {
  const { options } = context;
  if (taskId === undefined) {
    if (options.message !== undefined || options.setLabel)
      throw usage('--message and --set-label are for the fork of one task');
    return runBulk('fork', context);
  }
  const { state, code, label, skill, contextId, since, all, resume, dryRun, rate } = options;
  const ofMany = [state, code, label, skill, contextId, since, all, resume, dryRun, rate];
  if (ofMany.some((flag) => flag !== undefined))
    throw usage('A task and flags that say which tasks contradict each other');
  const { agent: name, tenant, from, message, setLabel, by = operator() } = options;
  const { forkTask: fork } = await import('@batonjs/operator');
  const caller = callerOf(options);
  const asked = { caller, tenant, from: pointOf(from), by, message, labels: setLabel };
  const id = await withStore(context, (store) => fork({ store, name }, taskId, asked));
  context.output.result({ taskId: id, from: taskId }, [
    ['Task ID', id],
    ['Fork of', taskId],
  ]);
}
