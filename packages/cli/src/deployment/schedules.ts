import type { Command } from 'commander';
import { usage } from '../errors/cli-error.ts';
import { addExample, addOutputFlags, type CommonOptions, passFlagsOn } from '../flags/agent-flags.ts';
import type { Run, RunContext } from '../run-context.ts';
import { storeText, withStore } from './open-store.ts';

interface SchedulesFlags extends CommonOptions {
  readonly store: string;
  readonly agent: string;
}

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
