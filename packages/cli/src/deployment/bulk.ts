import type { BulkAction, BulkProgress } from '@batonjs/operator';
import type { Command } from 'commander';
import { usage } from '../errors/cli-error.ts';
import { toDuration } from '../flags/duration.ts';
import { toRate, toTexts } from '../flags/key-values.ts';
import type { Run } from '../run.ts';
import type { RunContext } from '../run-context.ts';
import { openStore } from './open-store.ts';
import { operator } from './operator.ts';
import { type ScopeFlags, stateOf } from './tasks.ts';

/** Flags of a command over many tasks. */
export interface BulkFlags extends ScopeFlags {
  readonly state?: string;
  readonly code?: string;
  readonly label?: readonly string[];
  readonly skill?: string;
  readonly contextId?: string;
  readonly since?: number;
  readonly all?: boolean;
  readonly dryRun?: boolean;
  readonly rate?: number;
  readonly resume?: string;
  readonly by?: string;
  /** Of forks. */
  readonly from?: string;
}

/** Adds the flags that say which tasks, and how fast. `--state` is that of the command above. */
export const addBulkFlags = (command: Command): Command =>
  command
    .option('--caller <name>', 'the name of a caller, as in the command above; may be repeated', toTexts)
    .option('--state <state>', 'only those in this state, as in the command above')
    .option('--code <code>', 'only those that failed with this code')
    .option('--label <label>', 'only those with this label; may be repeated', toTexts)
    .option('--skill <id>', 'only those with a message for this skill')
    .option('--context-id <id>', 'only those of this context')
    .option('--since <duration>', 'only those whose status changed within this time', toDuration)
    .option('--all', 'all tasks of the callers, where no other flag says which')
    .option('--dry-run', 'say what would be done, and do nothing')
    .option('--rate <n/s>', 'so many a second at most, such as 20/s', toRate)
    .option('--resume <run>', 'go on with a run that did not end')
    .option('--by <name>', 'who asks, for the record; the user of this process if it is not given');

const descriptions: Readonly<Record<Exclude<BulkAction, 'fork'>, string>> = {
  cancel: 'cancel many tasks: a server or worker of the agent ends them',
  'retry-webhooks': 'try the webhooks of many tasks again that were given up or wait',
  delete: 'delete many tasks that have ended, with all that names them',
};

/** Adds `cancel`, `retry-webhooks`, `delete` and `runs` to a command that has the flags of a store. */
export function addBulk(tasks: Command, run: Run): void {
  for (const [action, description] of Object.entries(descriptions))
    addBulkFlags(tasks.command(action).description(description))
      .addHelpText(
        'after',
        `\nExample:\n  $ baton tasks --store sqlite:.data/expense.db ${action} --label eu --since 1h --dry-run\n`,
      )
      .action(run<BulkFlags>((context) => runBulk(action as BulkAction, context)));
  tasks
    .command('runs')
    .description('list the runs over many tasks that the store remembers, the latest first')
    .action(run<ScopeFlags>(listRuns));
}

/** Does one thing to the tasks that the flags name, and says how far it is. */
export async function runBulk(action: BulkAction, context: RunContext<BulkFlags>): Promise<void> {
  const { options, output, io } = context;
  const { agent, tenant, caller = [''], dryRun, rate, resume } = options;
  const request = resume === undefined ? requestOf(action, options) : undefined;
  const { store } = await openStore(options.store, io.cwd);
  try {
    const { bulkTasks } = await import('@batonjs/operator');
    const pace = { signal: io.signal, ...(dryRun && { dryRun }), ...(rate && { perSecond: rate }) };
    const asked = request ? { ...request, caller, tenant } : { resume: resume ?? '' };
    let last: BulkProgress | undefined;
    try {
      await context.withProgress(false, async (line) => {
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
  } finally {
    await store.close();
  }
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
    ...(state !== undefined && { state: stateOf(state) }),
    ...(code !== undefined && { code }),
    ...(skill !== undefined && { skill }),
    ...(contextId !== undefined && { contextId }),
    ...(label && { labels: label }),
    ...(since !== undefined && { since: Date.now() - since }),
    ...(from !== undefined && { from: /^\d+$/.test(from) ? Number(from) : from }),
  };
}

function conclude(
  { id, action, total, done, skipped, failed, isOver }: BulkProgress,
  context: RunContext<BulkFlags>,
): void {
  const { output, options } = context;
  if (!isOver || failed > 0) context.exitCode = 1;
  if (output.isJson) {
    const run = id === '' ? {} : { run: id };
    output.json({ ...run, action, dryRun: options.dryRun ?? false, total, done, skipped, failed, isOver });
  } else {
    if (id !== '') output.field('Run', id);
    output.field('Found', total);
    output.field(options.dryRun ? 'Would be done' : 'Done', done);
    output.field('Skipped', skipped);
    output.field('Failed', failed);
  }
}

async function listRuns({ options, output, io }: RunContext<ScopeFlags>): Promise<void> {
  const { store } = await openStore(options.store, io.cwd);
  try {
    const { bulkRuns } = await import('@batonjs/operator');
    const runs = (await bulkRuns(store, options.agent)).map(({ id, request, startedAt, place, isOver }) => {
      const { done, skipped, failed } = place;
      const startedAtText = new Date(startedAt).toISOString();
      return { run: id, ...request, startedAt: startedAtText, done, skipped, failed, isOver };
    });
    if (output.isJson) return output.json({ runs });
    for (const { run, action, by = '', startedAt, done, isOver } of runs) {
      output.field('Run', run);
      output.field('Action', `${action}, asked by ${by}`);
      output.field('Started', startedAt);
      output.field('Done', `${done}${isOver ? '' : ', not over'}`);
    }
    output.field('Runs', runs.length);
  } finally {
    await store.close();
  }
}
