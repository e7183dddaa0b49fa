import { useEffect, useState } from 'preact/hooks';
import type { ListedState, TaskFilter, TaskRow } from '../../api/task.ts';
import { hrefOf } from '../data/route.ts';
import { useAgent, useMay } from '../data/session.ts';
import { useNow } from '../data/use-now.ts';
import { AgeOptions, Empty, Loading, ProblemNote, StateBadge } from '../parts/bits.tsx';
import { Icon } from '../parts/icon.tsx';
import { VirtualList } from '../parts/virtual-list.tsx';
import { ago, oneLine, plural, shortId, stateName } from '../parts/words.ts';
import { PruneButton } from './prune-button.tsx';
import { type TaskListState, useTaskList } from './use-task-list.ts';

const states: readonly ListedState[] = [
  'TASK_STATE_SUBMITTED',
  'TASK_STATE_WORKING',
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_AUTH_REQUIRED',
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_REJECTED',
];

const ages: readonly (readonly [number, string])[] = [
  [0, 'Any age'],
  [15 * 60_000, 'Last 15 minutes'],
  [3_600_000, 'Last hour'],
  [86_400_000, 'Last day'],
  [7 * 86_400_000, 'Last week'],
];

const sources = {
  live: 'Live from the store',
  polled: 'Read from the agent every 2 seconds',
  seen: 'The agent lists no tasks: these are the ones that this inspector saw',
} as const;

/** The tasks of an agent. */
export function TasksPage({
  agent,
  context,
  scope,
}: {
  readonly agent: string;
  readonly context: string;
  readonly scope: number;
}) {
  const [filter, setFilter] = useState<TaskFilter>({ scope });
  const [search, setSearch] = useState('');
  const summary = useAgent(agent);
  const mayPrune = useMay('prune');
  useEffect(() => {
    // Not for every letter: the search may read many pages.
    const timer = setTimeout(() => setFilter((before) => ({ ...before, text: search.trim() })), 200);
    return () => clearTimeout(timer);
  }, [search]);
  const list = useTaskList(agent, { ...filter, ...(context && { contextId: context }) });
  const isFiltered = Boolean(filter.state || filter.text || filter.maxAgeMs || context);

  return (
    <div class="tasks-page">
      <header class="page-head">
        <h1>Tasks</h1>
        {list.source && <span class="muted source-note">{sources[list.source]}</span>}
        <span class="spacer" />
        {mayPrune && summary?.hasServer && <PruneButton agent={agent} />}
      </header>
      <StateTabs filter={filter} counts={list.counts} onFilter={setFilter} />
      <div class="filters">
        <label class="search">
          <Icon name="search" />
          <span class="visually-hidden">Part of a task's id</span>
          <input
            type="search"
            placeholder="Part of an id"
            value={search}
            onInput={(event) => setSearch(event.currentTarget.value)}
          />
        </label>
        <AgeChoice filter={filter} onFilter={setFilter} />
        {context && (
          <span class="chip">
            Context {shortId(context)}
            <a class="chip-remove" href={hrefOf(agent, 'tasks')} aria-label="All contexts">
              <Icon name="cancel" />
            </a>
          </span>
        )}
        <span class="spacer" />
        <span class="muted list-count">{countOf(list)}</span>
      </div>
      {list.problem && <ProblemNote problem={{ message: list.problem }} />}
      <TaskRows agent={agent} list={list} isFiltered={isFiltered} scope={scope} />
    </div>
  );
}

interface FilterProps {
  readonly filter: TaskFilter;
  readonly onFilter: (filter: TaskFilter) => void;
}

function StateTabs({ filter, counts, onFilter }: FilterProps & Pick<TaskListState, 'counts'>) {
  return (
    <fieldset class="state-tabs" aria-label="State">
      <StateTab
        name="All"
        count={total(counts)}
        isOn={!filter.state}
        onChoose={() => onFilter(without(filter))}
      />
      {states.map((state) => (
        <StateTab
          key={state}
          name={stateName(state)}
          count={counts[state]}
          isOn={filter.state === state}
          onChoose={() => onFilter({ ...filter, state })}
        />
      ))}
    </fieldset>
  );
}

function AgeChoice({ filter, onFilter }: FilterProps) {
  return (
    <label class="select">
      <span class="visually-hidden">Age</span>
      <select
        value={filter.maxAgeMs ?? 0}
        onChange={(event) => onFilter({ ...filter, maxAgeMs: Number(event.currentTarget.value) })}
      >
        <AgeOptions ages={ages} />
      </select>
    </label>
  );
}

interface TaskRowsProps {
  readonly agent: string;
  readonly list: TaskListState;
  readonly isFiltered: boolean;
  readonly scope: number;
}

function TaskRows({ agent, list, isFiltered, scope }: TaskRowsProps) {
  const now = useNow();
  const [chosen, setChosen] = useState<string>();
  if (list.rows.length === 0) {
    if (list.isLoading) return list.problem ? null : <Loading what="Reading tasks" />;
    return isFiltered ? (
      <Empty icon="search" title="No task fits">
        Choose another state or age, or clear the search.
      </Empty>
    ) : (
      <Empty icon="tasks" title="No tasks yet">
        <a class="button" href={hrefOf(agent, 'send')}>
          Send the first message
        </a>
      </Empty>
    );
  }
  const open = (index: number) => {
    const { id } = list.rows[index]!;
    location.hash = hrefOf(agent, 'tasks', id, scope > 0 ? { scope: String(scope) } : {});
  };
  return (
    <div class="task-list">
      <div class="task-columns" aria-hidden="true">
        <span>State</span>
        <span>Task</span>
        <span>Message</span>
        <span>Context</span>
        <span>Changed</span>
      </div>
      <VirtualList
        items={list.rows}
        rowHeight={44}
        label="Tasks"
        selected={list.rows.findIndex(({ id }) => id === chosen)}
        onSelect={(index) => setChosen(list.rows[index]!.id)}
        onOpen={open}
        onEnd={list.more}
        total={list.total ?? list.rows.length}
        rowClass={() => 'task-row'}
        row={(task) => <TaskCells task={task} now={now} />}
      />
    </div>
  );
}

function TaskCells({ task, now }: { readonly task: TaskRow; readonly now: number }) {
  return (
    <>
      <StateBadge state={task.state} />
      <span class="mono cell-id">
        {shortId(task.id)}
        {(task.attempt ?? 0) > 1 && <span class="chip chip-again">attempt {task.attempt}</span>}
      </span>
      <span class="cell-text">{oneLine(task.text ?? '')}</span>
      <span class="mono cell-context">{shortId(task.contextId)}</span>
      <span class="cell-age">{task.statusAt ? ago(task.statusAt, now) : ''}</span>
    </>
  );
}

interface StateTabProps {
  readonly name: string;
  readonly count: number | undefined;
  readonly isOn: boolean;
  readonly onChoose: () => void;
}

const StateTab = ({ name, count, isOn, onChoose }: StateTabProps) => (
  <button
    type="button"
    class={`state-tab ${isOn ? 'is-on' : ''} ${count ? '' : 'is-zero'}`}
    aria-pressed={isOn}
    onClick={onChoose}
  >
    {name}
    {count !== undefined && <span class="count">{count.toLocaleString('en')}</span>}
  </button>
);

const without = ({ state: _, ...filter }: TaskFilter): TaskFilter => filter;

const total = (counts: TaskListState['counts']): number | undefined => {
  const known = Object.values(counts).filter((count) => count !== undefined);
  return known.length === 0 ? undefined : known.reduce((sum, count) => sum + count, 0);
};

const countOf = ({ rows, total, isLoading }: TaskListState): string => {
  if (isLoading) return '';
  return total === undefined || total === rows.length
    ? plural(rows.length, 'task')
    : `${rows.length.toLocaleString('en')} of ${plural(total, 'task')}`;
};
