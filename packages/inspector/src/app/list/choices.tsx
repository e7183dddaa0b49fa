import { useRef } from 'preact/hooks';
import { changeQuery } from '../data/route.ts';
import { useSession } from '../data/session.ts';
import type { TaskListState } from './use-task-list.ts';

interface ChoiceProps {
  /** The member of the address. */
  readonly name: 'agent' | 'caller' | 'code';
  readonly label: string;
  readonly all: string;
  readonly chosen: string;
  /** The values, and the words for them. */
  readonly values: readonly (readonly [string, string])[];
}

/** Chooses a value that stands in the address; nothing while there is nothing to choose. */
function Choice({ name, label, all, chosen, values }: ChoiceProps) {
  if (values.length === 0 && !chosen) return null;
  const shown =
    !chosen || values.some(([value]) => value === chosen) ? values : [...values, [chosen, chosen] as const];
  return (
    <label class="select">
      <span class="visually-hidden">{label}</span>
      <select value={chosen} onChange={(event) => changeQuery({ [name]: event.currentTarget.value })}>
        <option value="">{all}</option>
        {shown.map(([value, words]) => (
          <option key={value} value={value}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}

interface ListChoicesProps {
  /** The agent whose page it is. */
  readonly agent: string | undefined;
  readonly query: URLSearchParams;
  readonly list: TaskListState;
}

/** Chooses the agent, with how many of its tasks fit, the caller, and the code with which a task failed. */
export function ListChoices({ agent, query, list }: ListChoicesProps) {
  const { agents } = useSession();
  const chosen = query.get('agent') ?? '';
  const callers = [...new Set(agents.flatMap(({ scopes }) => scopes))].sort();
  return (
    <>
      {agent === undefined && (
        <>
          <Choice
            name="agent"
            label="Agent"
            all="All agents"
            chosen={chosen}
            values={agents.map(({ id, name }) => {
              const total = list.totals.get(id);
              return [id, total === undefined ? name : `${name} (${total.toLocaleString('en')})`];
            })}
          />
          <Choice
            name="caller"
            label="Caller"
            all="First caller of each"
            chosen={query.get('caller') ?? ''}
            values={callers.length > 1 ? callers.map((caller) => [caller, caller]) : []}
          />
        </>
      )}
      <CodeChoice chosen={query.get('code') ?? ''} list={list} />
    </>
  );
}

/** Chooses among the codes of the tasks that were listed since the page was opened. */
function CodeChoice({ chosen, list }: { readonly chosen: string; readonly list: TaskListState }) {
  const seen = useRef(new Set<string>());
  const read = useRef<unknown>(undefined);
  if (read.current !== list.rows) {
    read.current = list.rows;
    for (const { code } of list.rows) if (code) seen.current.add(code);
  }
  const values = [...seen.current].sort();
  return (
    <Choice
      name="code"
      label="Error code"
      all="Any error code"
      chosen={chosen}
      values={values.map((code) => [code, code])}
    />
  );
}
