import { textOf } from '@batonjs/protocol/parts';
import { sleep } from '@batonjs/protocol/timing';
import type { Command } from 'commander';
import type { ListFlags, Page } from '../deployment/list-pages.ts';
import { addScopeFlags, storeText } from '../deployment/open-store.ts';
import { usage } from '../errors/cli-error.ts';
import { addExample, addOutputFlags, addStreamFlag, passFlagsOn, toCount } from '../flags/agent-flags.ts';
import { addFilterFlags } from '../flags/filter-flags.ts';
import type { Io } from '../io.ts';
import { cleanLine } from '../output/clean.ts';
import { coloured } from '../output/output.ts';
import { idFields } from '../output/render.ts';
import type { Run, RunContext } from '../run-context.ts';

/** Adds the flags that say which tasks are listed, and how many. */
export const addListFlags = (command: Command): Command =>
  addScopeFlags(addFilterFlags(command))
    .argument('[search...]', 'words, and filters such as label:vip took:>10s (docs: operating/finding-tasks)')
    .option('--all-callers', 'of a store: those of all callers')
    .option('--text <words>', 'only those with these words, as in the search')
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
    const { text, watch, allCallers } = command.opts<ListFlags>();
    if (below !== command && (text !== undefined || watch || allCallers))
      throw usage(
        `${watch ? '--watch' : allCallers ? '--all-callers' : '--text'} is for the list alone`,
        'Choose many tasks by --label, --state or another filter',
      );
  });
  return passFlagsOn(command);
}

/** Lists the tasks of an agent that runs, or of a store: with the same flags, and in the same form. */
export async function listTasks(context: RunContext<ListFlags>, words: string[] = []): Promise<void> {
  const { options, output, io, command } = context;
  // Only now: no other command needs it.
  const { ofAgent, ofStore, searchOf } = await import('../deployment/list-pages.ts');
  const search = searchOf(words.join(' '), options);
  const isForPerson = !output.isJson && io.stdout.isTTY === true;
  // One that stands in the settings is not meant where an agent is named.
  const isOfStore = command.getOptionValueSource('store') === 'cli';
  const read = () => (isOfStore ? ofStore(context, search) : ofAgent(context, search, isForPerson));
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
  const { tasks, nextPageToken, waiting, agents, searched } = page;
  if (output.isJson && !options.stream) return output.json(page);
  for (const task of tasks) {
    const whose = task.caller === undefined ? [] : [['Caller', task.caller] as const];
    output.result(task, [...idFields(task), ...whose, ['Changed', task.status.timestamp ?? 'unknown']]);
  }
  if (output.isJson) return;
  output.field('Tasks', tasks.length);
  if (searched) output.field('Searched', searchedText(searched, options));
  if (nextPageToken) output.field('Next Page Token', nextPageToken);
  if (waiting !== undefined) output.field('Waiting', waiting);
  for (const { name, cards } of agents ?? []) output.field('Agent', `${name} (${cards.join(', ')})`);
}

/** How often a list that is watched is read again, in milliseconds. */
const everyMs = 2_000;

/** Draws a page for a person at a terminal. */
function draw(page: Page, agent: string, { io, output, options }: RunContext<ListFlags>): void {
  const { tasks, nextPageToken, searched } = page;
  const { stdout, env } = io;
  output.raw(taskLines(tasks, { agent, columns: stdout.columns ?? 80, now: Date.now(), env }));
  const rest = nextPageToken ? `, more with --page-token ${nextPageToken}` : '';
  const of = searched ? `, searched in ${searchedText(searched, options)}` : '';
  output.note(`${tasks.length === 1 ? '1 task' : `${tasks.length} tasks`}${of}${rest}`);
}

/** How far a search went that looks at each task. */
const searchedText = ({ tasks, of = tasks }: NonNullable<Page['searched']>, { pageToken }: ListFlags) =>
  `the ${pageToken === undefined ? 'newest' : 'next'} ${tasks.toLocaleString('en')} of ${of.toLocaleString('en')}`;

const units = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000 };

/** How long ago a time was: `12s`, `3m`, `5h`, `2d`; nothing for none. */
function ageOf(time: string | undefined, now: number): string {
  const ms = now - Date.parse(time ?? '');
  if (Number.isNaN(ms)) return '';
  const [unit, length] = Object.entries(units).find(([, length]) => ms >= length) ?? ['s', 1_000];
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
export function taskLines(tasks: Page['tasks'], { agent, columns, now, env }: Terminal): string {
  if (tasks.length === 0) return '';
  const rows = tasks.map(({ id, status, history, title, caller }) => ({
    state: cleanLine(status.state.replace('TASK_STATE_', '').replaceAll('_', '-').toLowerCase()),
    age: ageOf(status.timestamp, now),
    id: [id, caller ?? []].flat().map(cleanLine).join('  '),
    text: cleanLine(textOf(status.message ?? history?.at(-1)) || (title ?? '')),
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
