import type { Command } from 'commander';
import { usage } from '../errors/cli-error.ts';
import { addOutputFlags, type CommonOptions } from '../flags/agent-flags.ts';
import type { Run } from '../run.ts';
import type { RunContext } from '../run-context.ts';
import { openStore } from './open-store.ts';

interface SchedulesFlags extends CommonOptions {
  readonly store: string;
  readonly agent: string;
}

export function addSchedules(program: Command, run: Run): void {
  const command = program
    .command('schedules')
    .description('the recurring tasks of an agent, as its store knows them')
    .requiredOption('--store <url>', 'sqlite:<path>, redis://…, postgres://… or etcd://…')
    .option('--agent <name>', 'the name of the agent in the store', 'agent');
  addOutputFlags(command)
    .addHelpText('after', '\nExample:\n  $ baton schedules --store sqlite:.data/expense.db --agent expense\n')
    .action(run<SchedulesFlags>(list));
  command
    .command('forget')
    .description('forget a schedule that no server has any more, so that it is not overdue')
    .argument('<name>')
    .addHelpText(
      'after',
      '\nExample:\n  $ baton schedules --store sqlite:.data/expense.db --agent expense forget report\n',
    )
    .action(run<SchedulesFlags>(forget));
  // A command below this one has its flags, too.
  command.hook('preAction', (_, below) => {
    for (const [name, value] of Object.entries(command.opts()))
      if (below.getOptionValue(name) === undefined) below.setOptionValue(name, value);
  });
}

async function list({ options, output, io }: RunContext<SchedulesFlags>): Promise<void> {
  const { schedulesIn } = await import('@batonjs/server/schedules');
  const { store } = await openStore(options.store, io.cwd);
  try {
    const schedules = await schedulesIn(store, options.agent);
    if (output.isJson) return output.json({ schedules });
    for (const { name, cron, timezone, missed, latest, nextAt, isOverdue } of schedules) {
      output.field('Schedule', name);
      output.field('Times', `${cron} (${timezone}), missed: ${missed}`);
      if (latest) output.field('Latest', `${latest.dueAt}, task ${latest.taskId}`);
      output.field(isOverdue ? 'Overdue since' : 'Next', nextAt ?? 'never');
    }
    output.field('Schedules', schedules.length);
  } finally {
    await store.close();
  }
}

async function forget({ options, output, io }: RunContext<SchedulesFlags>, name: string): Promise<void> {
  const { forgetSchedule } = await import('@batonjs/server/schedules');
  const { store } = await openStore(options.store, io.cwd);
  try {
    if (!(await forgetSchedule(store, options.agent, name)))
      throw usage(`The agent "${options.agent}" has no schedule "${name}" in this store`);
    if (output.isJson) output.json({ forgotten: name });
    else output.field('Forgotten', name);
  } finally {
    await store.close();
  }
}
