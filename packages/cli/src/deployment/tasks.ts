import type { ListedTask, TaskStore } from '@batonjs/store';
import { type Command, Option } from 'commander';
import { CliError, usage } from '../errors/cli-error.ts';
import {
  addExample,
  addOutputFlags,
  addStreamFlag,
  type CommonOptions,
  passFlagsOn,
} from '../flags/agent-flags.ts';
import { toCount, toTexts } from '../flags/key-values.ts';
import { stateNames, stateOf } from '../flags/states.ts';
import type { Run } from '../run.ts';
import type { RunContext } from '../run-context.ts';
import { storeText, withStore } from './open-store.ts';

/** Flags that say whose tasks are meant. */
export interface ScopeFlags extends CommonOptions {
  readonly store: string;
  readonly agent: string;
  readonly tenant?: string;
  /** Several only for many tasks. */
  readonly caller?: readonly string[];
}

interface TasksFlags extends ScopeFlags {
  readonly state?: string;
  readonly text?: string;
  readonly limit: number;
}

export const callerText =
  'the `scope` by which `authenticate` names the caller; none: those without authentication';

export const addScopeFlags = (command: Command): Command =>
  command
    .option('--agent <name>', 'the name of the agent in the store', 'agent')
    .option('--tenant <name>', 'the tenant')
    .option('--caller <name>', callerText, toTexts);

/** The caller of a command for the tasks of one. */
export function callerOf({ caller = [''] }: Pick<ScopeFlags, 'caller'>): string {
  const [one = '', ...others] = caller;
  if (others.length > 0)
    throw usage('--caller may be repeated only where many tasks are canceled, forked, deleted or sent again');
  return one;
}

export function addTasks(program: Command, run: Run): Command {
  const command = program
    .command('tasks')
    .description('look into a store: the tasks of an agent, those that changed last first')
    .requiredOption('--store <url>', storeText)
    .addOption(new Option('--state <state>', 'only those in this state').choices(stateNames))
    .option('--text <words>', 'only those whose first message has words that begin with these')
    .option('--limit <n>', 'so many at most', toCount(1), 50);
  addExample(
    addStreamFlag(addOutputFlags(addScopeFlags(command))),
    'tasks --store sqlite:.data/expense.db --agent expense',
  ).action(run<TasksFlags>(listStored));
  command.hook('preAction', (_, below) => {
    if (below !== command && command.opts<TasksFlags>().text !== undefined)
      throw usage('--text is for the list alone', 'Choose many tasks by --label, --state or another filter');
  });
  return passFlagsOn(command);
}

const listStored = (context: RunContext<TasksFlags>): Promise<void> =>
  withStore(context, async (store) => {
    const { options, output } = context;
    const { tasks, total, waiting } = await read(store, options);
    const shown = tasks.map(({ taskId, head }) => ({
      taskId,
      contextId: head.contextId,
      state: head.state ?? 'TASK_STATE_UNSPECIFIED',
      changedAt: head.statusAt,
      turn: head.turn,
      attempt: head.attempt,
      facts: head.version,
    }));
    const isNarrowed = options.state !== undefined || options.text !== undefined;
    const others = total === 0 && !isNarrowed ? await othersThan(store, options.agent) : undefined;
    if (output.isJson && !options.stream)
      return output.json({ tasks: shown, total, waiting, agents: others?.queues });
    for (const task of shown)
      output.result(task, [
        ['Task ID', task.taskId],
        ['Context ID', task.contextId],
        ['State', task.state],
        ['Changed', task.changedAt],
        ['Turn', `${task.turn}, attempt ${task.attempt}, ${task.facts} facts`],
      ]);
    if (output.isJson) return;
    output.field('Tasks', total);
    output.field('Waiting', waiting);
    for (const { name, cards } of others?.queues ?? [])
      output.field('Agent', `${name} (${cards.join(', ')})`);
    if (total === 0 && !isNarrowed) output.note(reasonForNone(others, options));
  });

/** The agents that have worked on a store, if this one has not. */
async function othersThan(store: TaskStore, agent: string) {
  const { isKnownQueue, knownQueues } = await import('@batonjs/operator');
  return (await isKnownQueue(store, agent)) ? undefined : knownQueues(store);
}

/** Why a list is empty that no state narrows: most often another agent or caller was meant. */
function reasonForNone(
  others: Awaited<ReturnType<typeof othersThan>>,
  { agent, ...flags }: TasksFlags,
): string {
  if (others) {
    const { total, queues } = others;
    const named = queues.length < total ? `, of ${total} the first ${queues.length} here` : '';
    return `No agent called "${agent}" has worked on this store: --agent takes the \`name\` of ${total === 0 ? 'its server' : `one that has${named}`}`;
  }
  const whose =
    callerOf(flags) === '' ? 'without authentication: those of others need --caller' : 'of this name';
  return `The agent "${agent}" has no tasks of callers ${whose}`;
}

async function read(
  store: TaskStore,
  { agent, tenant, state, text, limit, ...flags }: TasksFlags,
): Promise<{ tasks: readonly ListedTask[]; total: number; waiting: number }> {
  const { scopeOf } = await import('@batonjs/server/internals');
  const scope = scopeOf(agent, tenant, { scope: callerOf(flags) });
  if (text !== undefined && !(await store.searchesText?.()))
    throw new CliError(
      'A2ACLI_ERR_USAGE',
      'The store does not search the texts of tasks',
      'Open it with `textSearch: true` in the server of the agent: sqliteStore and postgresStore have it',
    );
  const [{ tasks, total }, waiting] = await Promise.all([
    store.list(scope, { limit, state: state === undefined ? undefined : stateOf(state), text }),
    store.waiting(agent),
  ]);
  return { tasks, total, waiting };
}
