import type { Command } from 'commander';
import { usage } from '../errors/cli-error.ts';
import { addExample, type Flags } from '../flags/agent-flags.ts';
import { toDuration } from '../flags/duration.ts';
import type { Run, RunContext } from '../run-context.ts';
import { callerOf, type ScopeFlags, withStore } from './open-store.ts';
import { mayChange, yesFlag } from './operator.ts';

type EraseFlags = ScopeFlags & Flags<'contextId', 'all' | 'dryRun' | 'yes'> & { readonly wait: number };

/** Adds `erase` to a command that has the flags of a store. */
export function addErase(tasks: Command, run: Run): void {
  addExample(
    tasks
      .command('erase')
      .description('delete a task, those of a context, or all of a caller, with all that names them')
      .argument('[task-id]', 'the task')
      .option('--context-id <id>', 'all tasks of this context')
      .option('--all', 'all tasks of the caller')
      .option('--wait <duration>', 'so long at most for the end of each task at work', toDuration, 10_000)
      .option('--dry-run', 'say how much would be erased, and erase nothing')
      .option(...yesFlag),
    'tasks --store sqlite:.data/expense.db --agent expense --caller ada erase --all',
  ).action(run<EraseFlags>(eraseTasks));
}

async function eraseTasks(context: RunContext<EraseFlags>, taskId?: string): Promise<void> {
  const { options, output, io } = context;
  const { agent, tenant, contextId, all, wait: waitMs, dryRun = false } = options;
  if ([taskId, contextId, all].filter((named) => named !== undefined).length !== 1)
    throw usage('Say which tasks', 'Give the id of a task, --context-id or --all');
  const { eraseTasks: erase } = await import('@batonjs/operator');
  const goOn = () => output.note('Not all is erased: give the same command again to go on');
  const erased = await withStore(context, async (store) => {
    const asked = { caller: callerOf(options), tenant, taskId, contextId, waitMs, signal: io.signal };
    const look = () => erase({ store, name: agent }, { ...asked, dryRun: true });
    if (dryRun) return look();
    if (!(await mayChange(context, async () => ['Erase', (await look()).tasks]))) return undefined;
    return erase({ store, name: agent }, asked).catch((error: unknown) => {
      goOn();
      throw error;
    });
  });
  context.exitCode = 1;
  if (!erased) return;
  const { tasks, facts, webhooks, schedules = 0, forks = 0, left } = erased;
  const isMissing = taskId !== undefined && tasks + left.length === 0;
  if (isMissing) output.warn(`There is no task ${taskId} of this agent and caller`);
  if (left.length > 0 && !dryRun) goOn();
  context.exitCode = Number(isMissing || (left.length > 0 && !dryRun));
  output.result({ ...(dryRun && { dryRun }), ...erased }, [
    ['Tasks', tasks],
    ['Facts', facts],
    ['Webhooks', webhooks],
    ...(all ? [['Schedules', schedules] as const] : []),
    ...(dryRun
      ? [['Forks', forks] as const, ['At work, would be canceled first', left.length] as const]
      : []),
    ...(dryRun ? [] : left.map((id) => ['Not ended yet', id] as const)),
  ]);
}
