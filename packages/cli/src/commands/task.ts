import { A2AError } from '@batonjs/client';
import type { Task } from '@batonjs/protocol';
import { type Command, Option } from 'commander';
import type { ListFlags } from '../deployment/list-pages.ts';
import { storeText } from '../deployment/open-store.ts';
import {
  addAgentFlags,
  addExample,
  addStreamFlag,
  addWaitFlags,
  type CommonOptions,
  toCount,
} from '../flags/agent-flags.ts';
import { isSettled, poll, subscribeAndWait } from '../following/wait.ts';
import { idFields, showEvent, showTask } from '../output/render.ts';
import type { Run, RunContext } from '../run-context.ts';
import { addListFlags, listTasks } from './list.ts';

type TaskFlags = CommonOptions<never, 'wait' | 'watch'> & {
  readonly history?: number;
  readonly pollInterval: number;
};

export function addTask(program: Command, run: Run): Command {
  const task = program.command('task').description('read, follow, list and cancel tasks');
  const get = task
    .command('get')
    .description('show a task')
    .argument('<id>', 'the id of the task')
    .option('--history <n>', 'with so many of its latest messages', toCount(0))
    .option('--wait', 'read it until it has ended or waits for an answer')
    .addOption(new Option('--watch').hideHelp());
  addExample(
    addWaitFlags(addStreamFlag(addAgentFlags(get))),
    'task get -a localhost:4000 3f2a… --wait --timeout 1m',
  ).action(run<TaskFlags>(getTask));

  const cancel = task.command('cancel').description('cancel a task').argument('<id>', 'the id of the task');
  addExample(addStreamFlag(addAgentFlags(cancel)), 'task cancel -a localhost:4000 3f2a…').action(
    run<TaskFlags>(cancelTask),
  );

  const list = task
    .command('list')
    .description('list tasks of an agent that runs, or of a store: those that changed last first');
  addExample(
    addStreamFlag(addAgentFlags(addListFlags(list.option('--store <url>', storeText)))),
    'task list -a localhost:4000 --state working',
  ).action(run<ListFlags>(listTasks));

  const subscribe = task
    .command('subscribe')
    .description('follow a task until it has ended or waits for an answer')
    .argument('<id>', 'the id of the task');
  addExample(
    addWaitFlags(addStreamFlag(addAgentFlags(subscribe))),
    'task subscribe -a localhost:4000 3f2a… --stream -o json',
  ).action(run<TaskFlags>(subscribeToTask));
  return task;
}

async function getTask(context: RunContext<TaskFlags>, id: string): Promise<void> {
  const { history: historyLength, watch, wait = watch } = context.options;
  await context.agent();
  if (wait) context.know(id);
  const task = await (wait
    ? context.following((agent, how) => poll(agent, id, how, undefined, historyLength))
    : context.call((agent, signal) => agent.getTask({ id, historyLength }, { signal })));
  show(context, task, historyLength !== undefined);
  context.conclude(task);
}

function show({ output }: RunContext<TaskFlags>, task: Task, withHistory: boolean): void {
  if (output.isJson) output.json(task);
  else showTask(output, task, withHistory || output.isVerbose);
}

async function cancelTask(context: RunContext<TaskFlags>, id: string): Promise<void> {
  const task = await context.call(async (agent, signal) => {
    try {
      return await agent.cancelTask({ id }, { signal });
    } catch (error) {
      if (!A2AError.is(error, 'TASK_NOT_CANCELABLE')) throw error;
      const now = await agent.getTask({ id }, { signal });
      // Canceled before: nothing is left to do.
      if (now.status.state === 'TASK_STATE_CANCELED') return now;
      context.output.note(`State: ${now.status.state}`);
      throw error;
    }
  });
  show(context, task, false);
  if (isSettled(task)) return;
  context.exitCode = 1;
  context.output.note(`Not ended yet: ${context.commandLine('task get', id, '--wait')}`);
}

async function subscribeToTask(context: RunContext<TaskFlags>, id: string): Promise<void> {
  const { options, output } = context;
  await context.agent();
  context.know(id);
  let last: Task | undefined;
  const task = await context.following(
    (agent, wait) => subscribeAndWait(agent, id, wait),
    (event) => {
      if (options.stream) showEvent(output, event);
      last = event.task;
    },
  );
  if (!options.stream) show(context, task, false);
  else if (!output.isJson && !last) output.fields(idFields(task));
  context.conclude(task);
}
