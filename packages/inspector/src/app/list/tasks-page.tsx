import { readSearch, searchProblem } from '@batonjs/operator/search';
import { useEffect, useState } from 'preact/hooks';
import type { ListQuery } from '../../api/task.ts';
import { changeQuery, hrefOf, rememberList, taskHref } from '../data/route.ts';
import { useNow, useSession } from '../data/session.ts';
import { money } from '../models/totals.ts';
import { AgentCell } from '../parts/agent-mark.tsx';
import {
  Empty,
  Loading,
  PageHead,
  ProblemNote,
  QuietButton,
  RemoveButton,
  StateBadge,
} from '../parts/bits.tsx';
import { Choice, Select } from '../parts/choice.tsx';
import { UnservedNotes } from '../parts/unserved-note.tsx';
import { type Ticks, VirtualList } from '../parts/virtual-list.tsx';
import {
  ago,
  counted,
  duration,
  isTerminalState,
  oneLine,
  plural,
  saidBeside,
  shortId,
} from '../parts/words.ts';
import { ManyDialog } from './many-dialog.tsx';
import { filterOf } from './search.ts';
import { HideScheduled, isHidingScheduled, SearchBox, StateTabs } from './task-filters.tsx';
import { type ListedRow, type TaskListState, useTaskList } from './task-lists.ts';
import { useOffered, useTicks } from './use-many.ts';

const sources = {
  live: 'Live from the store',
  polled: 'Read from the agent every 2 seconds',
  seen: 'The agent lists no tasks: these are the ones that this inspector saw',
} as const;

const ages: readonly (readonly [number, string])[] = [
  [0, 'Any age'],
  [15 * 60_000, 'Last 15 minutes'],
  [3_600_000, 'Last hour'],
  [86_400_000, 'Last day'],
  [7 * 86_400_000, 'Last week'],
];

interface TasksPageProps {
  /** Undefined shows the tasks of all agents. */
  readonly agent: string | undefined;
  /** The filter, as it stands in the address. */
  readonly query: URLSearchParams;
}

/** The tasks of an agent, or of all. The filter stands in the address. */
export function TasksPage({ agent, query }: TasksPageProps) {
  const filter = filterOf(query);
  const only = agent ?? (query.get('agent') || undefined);
  const list = useTaskList(only, filter);
  const ticks = useTicks(list.rows);
  const mayAct = useOffered().length > 0;
  const { contextId: context } = filter;
  const callers = [...new Set(useSession().agents.flatMap(({ scopes }) => scopes))].sort();
  const typed = query.get('q') ?? '';
  const problem = searchProblem(typed);
  const isFiltered = [...query].some(([name, value]) => value && name !== 'scope');
  useEffect(rememberList);
  return (
    <div class="tasks-page">
      <PageHead
        title={agent === undefined ? 'All tasks' : 'Tasks'}
        about={list.source && agent !== undefined && sources[list.source]}
      >
        {ticks.rows.length > 0 && <QuietButton onClick={ticks.clear}>Untick</QuietButton>}
        <ManyDialog agent={only} filter={filter} isEmpty={list.rows.length === 0} ticked={ticks.rows} />
      </PageHead>
      <StateTabs filter={filter} counts={list.counts} unserved={list.unserved} />
      <div class="filters">
        <SearchBox typed={typed} rows={[...list.rows, ...callers.map((caller) => ({ caller }))]} />
        <Select
          label="Age"
          chosen={filter.maxAgeMs ?? 0}
          values={ages}
          onChoose={(age) => changeQuery({ age: age === 0 ? '' : String(age) })}
        />
        <HideScheduled typed={typed} />
        <ListChoices agent={agent} query={query} filter={filter} list={list} callers={callers} />
        {context && <ContextChip context={context} />}
        <span class="spacer" />
        <span class="muted list-count" role="status">
          {countOf(list)}
        </span>
      </div>
      {problem && (
        <p class="muted" role="status">
          Searched as a word: {problem}
        </p>
      )}
      {list.searched && <Searched searched={list.searched} filter={filter} onOlder={list.more} />}
      <UnservedNotes unserved={list.unserved} isChosen={filter.unserved ?? false} />
      <ProblemNote problem={list.problem} />
      <TaskRows agent={agent} list={list} isFiltered={isFiltered} ticks={mayAct ? ticks : undefined} />
    </div>
  );
}

interface SearchedProps {
  readonly searched: NonNullable<TaskListState['searched']>;
  readonly filter: ListQuery;
  readonly onOlder: () => void;
}

/** How far a search went that looks at each task, and a way to go on from there. */
const Searched = ({ searched: { tasks, of, unfit, isAll }, filter, onOlder }: SearchedProps) => (
  <p class="muted" role="status">
    {isHidingScheduled(filter) && `${counted(unfit)} scheduled are hidden. `}
    {isAll
      ? `All ${plural(tasks, 'task')} were searched: ids, titles, labels and answers.`
      : `Searched ids, titles, labels and answers of the newest ${counted(tasks)} of ${plural(of, 'task')}. `}
    {!isAll && <QuietButton onClick={onOlder}>Search older</QuietButton>}
  </p>
);

const ContextChip = ({ context }: { readonly context: string }) => (
  <span class="chip">
    Context {shortId(context)}
    <RemoveButton class="chip-remove" label="All contexts" onClick={() => changeQuery({ context: '' })} />
  </span>
);

interface TaskRowsProps {
  readonly agent: string | undefined;
  readonly list: TaskListState;
  readonly isFiltered: boolean;
  readonly ticks: Ticks<ListedRow> | undefined;
}

function TaskRows({ agent, list, isFiltered, ticks }: TaskRowsProps) {
  const now = useNow();
  const [chosen, setChosen] = useState<ListedRow>();
  if (list.rows.length === 0) {
    if (list.isLoading) return list.problem ? null : <Loading what="Reading tasks" />;
    return isFiltered ? (
      <Empty
        icon="search"
        title={list.searched && !list.searched.isAll ? 'None found so far' : 'No task fits'}
      >
        {list.searched && !list.searched.isAll
          ? 'Older tasks were not looked at yet: search them, too.'
          : 'Choose another state or age, or clear the search.'}
      </Empty>
    ) : (
      <Empty icon="tasks" title="No tasks yet">
        {agent !== undefined && (
          <a class="button" href={hrefOf(agent, 'send')}>
            Send the first message
          </a>
        )}
      </Empty>
    );
  }
  const hrefAt = (task: ListedRow) => taskHref(task.agent, task.id, task.scope ?? 0);
  return (
    <div class="task-list">
      <div class="task-columns" aria-hidden="true">
        <span>State</span>
        <span>Task</span>
        <span>Last said</span>
        <span>Changed</span>
      </div>
      <VirtualList
        items={list.rows}
        rowHeight={56}
        label="Tasks"
        selected={chosen ? list.rows.findIndex(({ id }) => id === chosen.id) : -1}
        onSelect={(index) => setChosen(list.rows[index])}
        hrefOf={hrefAt}
        ticks={ticks}
        onEnd={list.searched ? undefined : list.more}
        total={list.total ?? list.rows.length}
        rowClass={() => 'task-row'}
        row={(task) => <TaskCells task={task} now={now} hasAgent={agent === undefined} />}
      />
    </div>
  );
}

const countOf = ({ rows, total, isLoading }: TaskListState): string => {
  if (isLoading) return '';
  return total === undefined || total === rows.length
    ? plural(rows.length, 'task')
    : `${counted(rows.length)} of ${plural(total, 'task')}`;
};

/** What was typed, without the caller: another one was chosen beside it. */
const withoutCaller = (typed: string) => typed.replace(/(?<!\S)caller:("[^"]*"|\S+)/g, '').trim();

interface ListChoicesProps {
  /** The agent whose page it is. */
  readonly agent: string | undefined;
  readonly query: URLSearchParams;
  readonly filter: ListQuery;
  readonly list: TaskListState;
  readonly callers: readonly string[];
}

/** Chooses the agent, with how many of its tasks fit, and the caller. */
function ListChoices({ agent, query, filter, list, callers }: ListChoicesProps) {
  const { agents } = useSession();
  const chosen = query.get('agent') ?? '';
  if (agent !== undefined) return null;
  return (
    <>
      <Choice
        label="Agent"
        all="All agents"
        chosen={chosen}
        onChoose={(agent) => changeQuery({ agent })}
        values={agents.map(({ id, name }) => {
          const total = list.totals.get(id);
          return [id, total === undefined ? name : `${name} (${counted(total)})`];
        })}
      />
      <Choice
        label="Caller"
        all="All callers"
        chosen={readSearch(filter.q ?? '').caller ?? ''}
        onChoose={(caller) => changeQuery({ caller, q: withoutCaller(query.get('q') ?? '') })}
        values={callers.length > 1 ? callers.map((caller) => [caller, caller]) : []}
      />
    </>
  );
}

/** For how long a change of the state is news, in milliseconds: a little longer than it moves. */
const newsMs = 1_000;

interface TaskCellsProps {
  readonly task: ListedRow;
  readonly now: number;
  /** Whether tasks of several agents are listed. */
  readonly hasAgent: boolean;
}

/** A task in a list: its state once, what it is about, what was said last, when. */
function TaskCells({ task, now, hasAgent }: TaskCellsProps) {
  const { id, title, labels = [], code, attempt = 0, turn = 0, statusAt, startedAt, state } = task;
  const { changedAt, waitsFor } = task;
  const isNews = changedAt !== undefined && performance.now() - changedAt < newsMs;
  return (
    <>
      <span key={`${id} ${changedAt}`} class={isNews ? 'is-changed' : ''}>
        <StateBadge state={state} />
      </span>
      <span class="cell-task">
        <span class="cell-title" dir="auto">
          {title ?? shortId(id)}
        </span>
        <span class="cell-sub">
          {hasAgent && <AgentCell id={task.agent} />}
          {task.caller && <span>{task.caller}</span>}
          {waitsFor && <span class="chip chip-bad">waits for version {waitsFor}</span>}
          {code && <span class="chip chip-bad">{code}</span>}
          {turn > 1 && <span>{turn} turns</span>}
          {attempt > 1 && <span class="chip chip-again">attempt {attempt}</span>}
          {Object.entries(task.costs ?? {}).map(([code, cost]) => (
            <span class="cell-cost">{money(cost / 1_000_000, code)}</span>
          ))}
          {labels.map((label) => (
            <span key={label} class="chip">
              {label}
            </span>
          ))}
          <span class="mono">{shortId(id)}</span>
        </span>
      </span>
      <span class="cell-text" dir="auto">
        {oneLine(saidBeside(state, task.text))}
      </span>
      <span class="cell-age">
        <span>{statusAt ? ago(statusAt, now) : ''}</span>
        {startedAt && statusAt && isTerminalState(state) && (
          <span class="cell-sub">
            took {duration(Math.max(0, Date.parse(statusAt) - Date.parse(startedAt)))}
          </span>
        )}
      </span>
    </>
  );
}
