import type { Command } from 'commander';
import { usage } from '../errors/cli-error.ts';
import { addExample, addOutputFlags, type CommonOptions, passFlagsOn } from '../flags/agent-flags.ts';
import type { Run, RunContext } from '../run-context.ts';
import { type ScopeFlags, storeText, withStore } from './open-store.ts';
import { mayChange, yesFlag } from './operator.ts';

type ReleaseFlags = ScopeFlags & { readonly of: string; readonly yes?: boolean };

type ShareFlags = ScopeFlags & { readonly card: string };

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

type RotateFlags = CommonOptions & { readonly store: string };

export function addCallbacks(program: Command, run: Run): void {
  const callbacks = program.command('callbacks').description('the URLs of callbacks and answer links');
  const rotate = callbacks
    .command('rotate-key')
    .description('sign new URLs with a new key: those of the key before it count until the next change')
    .requiredOption('--store <url>', storeText);
  addExample(addOutputFlags(rotate), 'callbacks rotate-key --store sqlite:.data/expense.db').action(
    run<RotateFlags>(rotateKey),
  );
}

async function rotateKey(context: RunContext<RotateFlags>): Promise<void> {
  const { rotateCallbackKey } = await import('@batonjs/operator');
  await withStore(context, rotateCallbackKey);
  context.output.result({ rotated: true }, [['Rotated', true]]);
}

type SchedulesFlags = RotateFlags & { readonly agent: string };

export function addSchedules(program: Command, run: Run): void {
  const command = program
    .command('schedules')
    .description('the recurring tasks of an agent, as its store knows them')
    .requiredOption('--store <url>', storeText)
    .option('--agent <name>', 'the name of the agent in the store', 'agent');
  addExample(addOutputFlags(command), 'schedules --store sqlite:.data/expense.db --agent expense').action(
    run<SchedulesFlags>(list),
  );
  addExample(
    command
      .command('forget')
      .description('forget a schedule that no server has any more, so that it is not overdue')
      .argument('<name>'),
    'schedules --store sqlite:.data/expense.db --agent expense forget report',
  ).action(run<SchedulesFlags>(forget));
  passFlagsOn(command);
}

async function list(context: RunContext<SchedulesFlags>): Promise<void> {
  const { schedulesIn } = await import('@batonjs/server/schedules');
  const schedules = await withStore(context, (store) => schedulesIn(store, context.options.agent));
  const fields = schedules.flatMap(
    ({ name, cron, timezone, missed, latest, nextAt, isOverdue }): (readonly [string, string])[] => [
      ['Schedule', name],
      ['Times', `${cron} (${timezone}), missed: ${missed}`],
      ...(latest ? [['Latest', `${latest.dueAt}, task ${latest.taskId}`] as const] : []),
      [isOverdue ? 'Overdue since' : 'Next', nextAt ?? 'never'],
    ],
  );
  context.output.result({ schedules }, [...fields, ['Schedules', schedules.length]]);
}

async function forget(context: RunContext<SchedulesFlags>, name: string): Promise<void> {
  const { agent } = context.options;
  const { forgetSchedule } = await import('@batonjs/server/schedules');
  if (!(await withStore(context, (store) => forgetSchedule(store, agent, name))))
    throw usage(`The agent "${agent}" has no schedule "${name}" in this store`);
  context.output.result({ forgotten: name }, [['Forgotten', name]]);
}
