import type { Task } from '@batonjs/protocol';
import { textOf } from '@batonjs/protocol/parts';
import { sleep } from '@batonjs/protocol/timing';
import type { ListedTask, TaskQuery, TaskStore } from '@batonjs/store';
import type { Command } from 'commander';
import { addScopeFlags, callerOf, type ScopeFlags, storeText, withStore } from '../deployment/open-store.ts';
import { CliError, usage } from '../errors/cli-error.ts';
import { addExample, addOutputFlags, addStreamFlag, passFlagsOn, toCount } from '../flags/agent-flags.ts';
import { addFilterFlags, type FilterFlags } from '../flags/filter-flags.ts';
import type { Io } from '../io.ts';
import { cleanLine } from '../output/clean.ts';
import { coloured } from '../output/output.ts';
import { idFields } from '../output/render.ts';
import type { Run, RunContext } from '../run-context.ts';

export interface ListFlags extends Omit<ScopeFlags, 'store'>, FilterFlags {
  readonly store?: string;
  readonly text?: string;
  readonly pageSize?: number;
  readonly pageToken?: string;
  readonly watch?: boolean;
}

/** A page of tasks as an agent answers, and what only a store knows. */
interface Page {
  readonly tasks: readonly Task[];
  readonly nextPageToken?: string | undefined;
  readonly totalSize?: number;
  /** How many tasks of the agent wait for a process. */
  readonly waiting?: number;
  /** The agents that have worked on the store, if this one has not. */
  readonly agents?: readonly { readonly name: string; readonly cards: readonly string[] }[] | undefined;
}

/** Adds the flags that say which tasks are listed, and how many. */
export const addListFlags = (command: Command): Command =>
  addScopeFlags(addFilterFlags(command))
    .option('--text <words>', 'of a store: only those whose first message has words that begin with these')
    .option('--page-size <n>', 'so many at most', toCount(1))
    .option('--page-token <token>', 'go on after an earlier page')
    .option('--watch', 'at a terminal: draw the list again every two seconds, until Ctrl-C');

/** Adds `tasks`, the list of a store. What acts on its tasks is added below it. */
export function addTasks(program: Command, run: Run): Command {
  const command = program
    .command('tasks')
    .description('list tasks of a store, as `task list --store` does, or act on them')
    .requiredOption('--store <url>', storeText);
  addExample(
    addStreamFlag(addOutputFlags(addListFlags(command))),
    'tasks --store sqlite:.data/expense.db --agent expense',
  ).action(run<ListFlags>(listTasks));
  command.hook('preAction', (_, below) => {
    const { text, watch } = command.opts<ListFlags>();
    if (below !== command && (text !== undefined || watch))
      throw usage(
        `${watch ? '--watch' : '--text'} is for the list alone`,
        'Choose many tasks by --label, --state or another filter',
      );
  });
  return passFlagsOn(command);
}

/** Lists the tasks of an agent that runs, or of a store: with the same flags, and in the same form. */
export async function listTasks(context: RunContext<ListFlags>): Promise<void> {
  const { options, output, io, command } = context;
  const isForPerson = !output.isJson && io.stdout.isTTY === true;
  // One that stands in the settings is not meant where an agent is named.
  const isOfStore = command.getOptionValueSource('store') === 'cli';
  const read = () => (isOfStore ? ofStore : ofAgent)(context, isForPerson);
  if (isForPerson) {
    const agent = isOfStore ? options.agent : (await context.agent()).card.name;
    for (;;) {
      const page = await read();
      if (options.watch) output.raw('\u001b[H\u001b[2J');
      draw(page, agent, context);
      if (!options.watch) return;
      await sleep(everyMs, io.signal);
      io.signal.throwIfAborted();
    }
  }
  if (options.watch) throw usage('--watch draws at a terminal', 'Follow one task with `task subscribe`');
  const page = await read();
  const { tasks, nextPageToken, waiting, agents } = page;
  if (output.isJson && !options.stream) return output.json(page);
  for (const task of tasks)
    output.result(task, [...idFields(task), ['Changed', task.status.timestamp ?? 'unknown'] as const]);
  if (output.isJson) return;
  output.field('Tasks', tasks.length);
  if (nextPageToken) output.field('Next Page Token', nextPageToken);
  if (waiting !== undefined) output.field('Waiting', waiting);
  for (const { name, cards } of agents ?? []) output.field('Agent', `${name} (${cards.join(', ')})`);
}

/** How often a list that is watched is read again, in milliseconds. */
const everyMs = 2_000;

/** Draws a page for a person at a terminal. */
function draw({ tasks, nextPageToken }: Page, agent: string, { io, output }: RunContext): void {
  const { stdout, env } = io;
  output.raw(taskLines(tasks, { agent, columns: stdout.columns ?? 80, now: Date.now(), env }));
  const rest = nextPageToken ? `, more with --page-token ${nextPageToken}` : '';
  output.note(`${tasks.length === 1 ? '1 task' : `${tasks.length} tasks`}${rest}`);
}

async function ofAgent(context: RunContext<ListFlags>, isForPerson: boolean): Promise<Page> {
  const { contextId, state, label, skill, code, since, text, pageSize, pageToken } = context.options;
  if (text !== undefined) throw usage('No agent searches the words of messages', 'Give --store in its place');
  return context.call((agent, signal) =>
    agent.listTasks(
      {
        // What was said last, for tasks whose status says nothing.
        historyLength: isForPerson ? 1 : undefined,
        labels: label && [...label],
        status: state,
        statusTimestampAfter: timeAgo(since),
        ...{ contextId, skill, code, pageSize, pageToken },
      },
      { signal },
    ),
  );
}

const ofStore = (context: RunContext<ListFlags>, isForPerson: boolean): Promise<Page> =>
  withStore(context, async (store) => {
    const { agent, tenant, state, label, skill, code, contextId, since, text, ...flags } = context.options;
    const { pageSize: limit = 50, pageToken } = flags;
    const { scopeOf } = await import('@batonjs/server/internals');
    const scope = scopeOf(agent, tenant, { scope: callerOf(flags) });
    if (text !== undefined && !(await store.searchesText?.()))
      throw new CliError(
        'A2ACLI_ERR_USAGE',
        'The store does not search the texts of tasks',
        'Open it with `textSearch: true` in the server of the agent: sqliteStore and postgresStore have it',
      );
    const filter = { state, labels: label, skill, code, contextId, text };
    const [{ tasks, total, isCut }, waiting] = await Promise.all([
      store.list(scope, {
        ...filter,
        statusSince: timeAgo(since),
        limit,
        after: placeOf(pageToken),
      } as TaskQuery),
      store.waiting(agent),
    ]);
    const last = tasks.at(-1);
    const isNarrowed = [since, ...Object.values(filter)].some((one) => one !== undefined);
    const others = total === 0 && !isNarrowed ? await othersThan(store, agent) : undefined;
    if (total === 0 && !isNarrowed) context.output.note(reasonForNone(others, agent, callerOf(flags)));
    return {
      tasks: await Promise.all(
        tasks.map(async (task) => {
          const [first] = isForPerson ? await store.readFacts(scope, task.taskId, 0, 1) : [];
          return toTask(task, first?.fact.type === 'message-received' ? [first.fact.message] : undefined);
        }),
      ),
      nextPageToken:
        last && (tasks.length === limit || isCut) ? `${last.head.statusAt},${last.taskId}` : undefined,
      totalSize: total,
      waiting,
      agents: others?.queues,
    };
  });

const timeAgo = (ms: number | undefined): string | undefined =>
  ms === undefined ? undefined : new Date(Date.now() - ms).toISOString();

/** Where a page ended: the time and the id of its last task. */
function placeOf(token: string | undefined): TaskQuery['after'] {
  const [, statusAt, taskId] = /^([^,]+),(.+)$/.exec(token ?? '') ?? [];
  return statusAt && taskId ? { statusAt, taskId } : undefined;
}

/** A task of a store, as its agent would list it; with its position besides. */
function toTask({ taskId: id, head, fact }: ListedTask, history: Task['history']): Task {
  const { contextId, state = 'TASK_STATE_UNSPECIFIED', statusAt, turn, attempt, version } = head;
  const said = fact?.fact.type === 'status-changed' ? fact.fact.status.message : undefined;
  const status = { state, timestamp: statusAt, ...(textOf(said) !== '' && { message: said }) };
  return Object.assign(
    { id, contextId, status, ...(history && { history }) },
    { turn, attempt, facts: version },
  );
}

/** The agents that have worked on a store, if this one has not. */
async function othersThan(store: TaskStore, agent: string) {
  const { isKnownQueue, knownQueues } = await import('@batonjs/operator');
  return (await isKnownQueue(store, agent)) ? undefined : knownQueues(store);
}

/** Why a list is empty that no flag narrows: most often another agent or caller was meant. */
function reasonForNone(
  others: Awaited<ReturnType<typeof othersThan>>,
  agent: string,
  caller: string,
): string {
  if (others) {
    const { total, queues } = others;
    const named = queues.length < total ? `, of ${total} the first ${queues.length} here` : '';
    return `No agent called "${agent}" has worked on this store: --agent takes the \`name\` of ${total === 0 ? 'its server' : `one that has${named}`}`;
  }
  const whose = caller === '' ? 'without authentication: those of others need --caller' : 'of this name';
  return `The agent "${agent}" has no tasks of callers ${whose}`;
}

const units: readonly (readonly [number, string])[] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'm'],
  [1_000, 's'],
];

/** How long ago a time was: `12s`, `3m`, `5h`, `2d`; nothing for none. */
function ageOf(time: string | undefined, now: number): string {
  const ms = now - Date.parse(time ?? '');
  if (Number.isNaN(ms)) return '';
  const [length, unit] = units.find(([length]) => ms >= length) ?? [1_000, 's'];
  return `${Math.max(0, Math.floor(ms / length))}${unit}`;
}

/** The colours of states that a person looks for; others are as the rest. */
const colours: Readonly<Record<string, number>> = {
  working: 36,
  'input-required': 33,
  'auth-required': 33,
  completed: 32,
  failed: 31,
  rejected: 31,
};

interface Terminal {
  /** The agent of all tasks. */
  readonly agent: string;
  readonly columns: number;
  readonly now: number;
  readonly env: Io['env'];
}

/** Tasks for a person at a terminal, a table: state, age, id, and the text that was said last. */
export function taskLines(tasks: readonly Task[], { agent, columns, now, env }: Terminal): string {
  if (tasks.length === 0) return '';
  const rows = tasks.map(({ id, status, history }) => ({
    state: cleanLine(status.state.replace('TASK_STATE_', '').replaceAll('_', '-').toLowerCase()),
    age: ageOf(status.timestamp, now),
    id: cleanLine(id),
    text: cleanLine(textOf(status.message ?? history?.at(-1))),
  }));
  const table = [
    { state: 'STATE', age: 'AGE', id: `TASK OF ${cleanLine(agent)}`, text: 'LAST SAID' },
    ...rows,
  ];
  const widest = (name: 'state' | 'age' | 'id') => Math.max(...table.map((row) => row[name].length));
  const [states, ages, ids] = [widest('state'), widest('age'), widest('id')];
  return table
    .map(({ state, age, id, text }) => {
      const line = `${state.padEnd(states)}  ${age.padStart(ages)}  ${id.padEnd(ids)}  ${text}`.trimEnd();
      const cut = line.length > columns ? `${line.slice(0, columns - 1)}…` : line;
      const colour = colours[state];
      return `${colour ? coloured(env, colour, state) : state}${cut.slice(state.length)}\n`;
    })
    .join('');
}
