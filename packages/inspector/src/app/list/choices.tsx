import { useRef } from 'preact/hooks';
import { changeQuery } from '../data/route.ts';
import { useSession } from '../data/session.ts';
import { Choice } from '../parts/choice.tsx';
import type { TaskListState } from './use-task-list.ts';

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
            label="Agent"
            all="All agents"
            chosen={chosen}
            onChoose={(agent) => changeQuery({ agent })}
            values={agents.map(({ id, name }) => {
              const total = list.totals.get(id);
              return [id, total === undefined ? name : `${name} (${total.toLocaleString('en')})`];
            })}
          />
          <Choice
            label="Caller"
            all="First caller of each"
            chosen={query.get('caller') ?? ''}
            onChoose={(caller) => changeQuery({ caller })}
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
      label="Error code"
      all="Any error code"
      chosen={chosen}
      onChoose={(code) => changeQuery({ code })}
      values={values.map((code) => [code, code])}
    />
  );
}
