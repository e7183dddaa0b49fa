import type { BulkAction, BulkProgress } from '@batonjs/operator';
import type { Command } from 'commander';
import { usage } from '../errors/cli-error.ts';
import { addExample, type Flags, toRate, toTexts } from '../flags/agent-flags.ts';
import { addFilterFlags, type FilterFlags } from '../flags/filter-flags.ts';
import type { Run, RunContext } from '../run-context.ts';
import { callerOf, type ScopeFlags, withStore } from './open-store.ts';
import { mayChange, operator, yesFlag } from './operator.ts';

/** Flags of a command over many tasks; `from` is one of forks. */
interface BulkFlags
  extends ScopeFlags,
    FilterFlags,
    Flags<'resume' | 'by' | 'from', 'all' | 'dryRun' | 'yes'> {
  readonly rate?: number;
}

/** Adds the flags that say which tasks, and how fast. */
const addBulkFlags = (command: Command): Command =>
  addFilterFlags(
    command.option(
      '--caller <name>',
      'the name of a caller, as in the command above; may be repeated',
      toTexts,
    ),
  )
    .option('--all', 'all tasks of the callers, where no other flag says which')
    .option('--dry-run', 'say what would be done, and do nothing')
    .option(...yesFlag)
    .option('--rate <n/s>', 'so many a second at most, such as 20/s', toRate)
    .option('--resume <run>', 'go on with a run that did not end')
    .option('--by <name>', 'who asks, for the record; the user of this process if it is not given');

const descriptions: Readonly<Record<Exclude<BulkAction, 'fork'>, string>> = {
  cancel: 'cancel many tasks: a server or worker of the agent ends them',
  'retry-webhooks': 'try the webhooks of many tasks again that were given up or wait',
  delete: 'delete many tasks that have ended, with all that names them',
};

const verbs: Readonly<Record<BulkAction, string>> = {
  cancel: 'Cancel',
  fork: 'Fork',
  delete: 'Delete',
  'retry-webhooks': 'Retry the webhooks of',
};

/** Adds `cancel`, `retry-webhooks`, `delete` and `runs` to a command that has the flags of a store. */
export function addBulk(tasks: Command, run: Run): void {
  for (const [action, description] of Object.entries(descriptions))
    addExample(
      addBulkFlags(tasks.command(action).description(description)),
      `tasks --store sqlite:.data/expense.db ${action} --label eu --since 1h --dry-run`,
    ).action(run<BulkFlags>((context) => runBulk(action as BulkAction, context)));
  tasks
    .command('runs')
    .description('list the runs over many tasks that the store remembers, the latest first')
    .action(run<ScopeFlags>(listRuns));
}

/** Does one thing to the tasks that the flags name, and says how far it is. */
async function runBulk(action: BulkAction, context: RunContext<BulkFlags>): Promise<void> {
  const { options, output, io } = context;
  const { agent, tenant, caller = [''], dryRun, rate, resume } = options;
  const request = resume === undefined ? requestOf(action, options) : undefined;
  const { bulkTasks } = await import('@batonjs/operator');
  const pace = { signal: io.signal, dryRun, perSecond: rate };
  const asked = request ? { ...request, caller, tenant } : { resume: resume ?? '' };
  await withStore(context, async (store) => {
    let last: BulkProgress | undefined;
    const foreseen = async (): Promise<readonly [string, number]> => {
      let count = 0;
      for await (const { done } of bulkTasks(
        { store, name: agent },
        { ...asked, signal: io.signal, dryRun: true },
      ))
        count = done;
      return [verbs[action], count];
    };
    // A run that goes on was agreed to when it began.
    if (request && !dryRun && action !== 'retry-webhooks' && !(await mayChange(context, foreseen))) {
      context.exitCode = 1;
      return;
    }
    try {
      await context.withProgress(async (line) => {
        for await (last of bulkTasks({ store, name: agent }, { ...asked, ...pace })) {
          const { done, skipped, failed, total, tasks, id } = last;
          if (done + skipped + failed === 0 && id !== '' && !last.isOver) output.note(`Run ${id}`);
          line?.update(`${done} of ${total}`, { progress: done + skipped + failed, total });
          if (output.isJson && options.stream) for (const task of tasks) output.json(task);
          for (const { taskId, reason, outcome } of tasks)
            if (outcome === 'failed') output.warn(`${taskId}: ${reason}`);
        }
      });
      if (last) conclude(last, context);
    } finally {
      if (last && !last.isOver && last.id !== '')
        output.note(`The run did not end: give --resume ${last.id} to go on`);
    }
  });
}

function requestOf(action: BulkAction, { since, label, state, from, ...flags }: BulkFlags) {
  const { code, skill, contextId, all, by = operator() } = flags;
  const isFiltered = [code, skill, contextId, since, label, state].some((flag) => flag !== undefined);
  if (!isFiltered && !all)
    throw usage('Say which tasks', 'Give --state, --label or another filter, or --all');
  if (isFiltered && all) throw usage('--all and a filter contradict each other');
  return {
    action,
    by,
    ...{ state, code, skill, contextId, labels: label },
    since: since === undefined ? undefined : Date.now() - since,
    from: from === undefined ? undefined : pointOf(from),
  };
}

/** The point of a log that a user wrote: its position, or the name of a step. */
const pointOf = (from: string): string | number => (/^\d+$/.test(from) ? Number(from) : from);

function conclude(
  { id, action, total, done, skipped, failed, isOver }: BulkProgress,
  context: RunContext<BulkFlags>,
): void {
  const { output, options } = context;
  if (!isOver || failed > 0) context.exitCode = 1;
  const { dryRun = false } = options;
  output.result({ run: id || undefined, action, dryRun, total, done, skipped, failed, isOver }, [
    ...(id === '' ? [] : [['Run', id] as const]),
    ['Found', total],
    [dryRun ? 'Would be done' : 'Done', done],
    ['Skipped', skipped],
    ['Failed', failed],
  ]);
}

async function listRuns(context: RunContext<ScopeFlags>): Promise<void> {
  const { bulkRuns } = await import('@batonjs/operator');
  const found = await withStore(context, (store) => bulkRuns(store, context.options.agent));
  const runs = found.map(({ id, request, startedAt, cursor: { done, skipped, failed }, isOver }) => {
    const startedAtText = new Date(startedAt).toISOString();
    return { run: id, ...request, startedAt: startedAtText, done, skipped, failed, isOver };
  });
  const fields = runs.flatMap(({ run, action, by = '', startedAt, done, isOver }) => [
    ['Run', run] as const,
    ['Action', `${action}, asked by ${by}`] as const,
    ['Started', startedAt] as const,
    ['Done', `${done}${isOver ? '' : ', not over'}`] as const,
  ]);
  context.output.result({ runs }, [...fields, ['Runs', runs.length]]);
}

/** Flags that say what a fork begins with. */
interface ForkFlags extends BulkFlags, Flags<'message'> {
  readonly from: string;
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
