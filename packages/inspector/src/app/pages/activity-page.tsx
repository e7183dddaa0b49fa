import { useRef, useState } from 'preact/hooks';
import { type ActionRecord, type ErasedAt, type FoundActivity, wordsOf } from '../../api/agent.ts';
import { queryOf } from '../data/api.ts';
import { hrefOf } from '../data/route.ts';
import { useAct, useAgent, useGet, useMay } from '../data/session.ts';
import { SearchBox } from '../list/task-filters.tsx';
import { ActButton, Empty, PageHead, ProblemNote, Question, Table, TextField } from '../parts/bits.tsx';
import { counted, dateTime, plural, shortId } from '../parts/words.ts';

/** How often the records are read again, in milliseconds. */
const everyMs = 2_000;

/** Who did what with this inspector, the newest first. A search reads all that is kept, once. */
export function ActivityPage({ query }: { readonly query: URLSearchParams }) {
  const q = query.get('q') ?? '';
  const { value, error, again } = useGet<FoundActivity>(
    `/activity${queryOf({ q })}`,
    q ? undefined : everyMs,
  );
  const { records = [], searched = 0, isKept } = value ?? {};
  return (
    <div class="activity-page">
      <PageHead title="Activity" about={`What was done ${isKept ? 'in 90 days' : 'since the process began'}`}>
        <ErasePerson onErased={again} />
      </PageHead>
      <div class="filters">
        <SearchBox typed={q} what="who, what, agents, tasks and problems" />
        <span class="muted" role="status">
          {`The newest ${plural(records.length, 'action')} of ${counted(searched)} that were searched`}
        </span>
      </div>
      <ProblemNote problem={error?.problem} onRetry={again} />
      {value?.records.length === 0 ? (
        <Empty icon="check" title={q ? 'No action has these words' : 'Nothing was done yet'} />
      ) : (
        <Table columns={['When', 'Who', 'What', 'Task', 'Outcome']}>
          {records.map((record, index) => (
            <Row key={records.length - index} record={record} />
          ))}
        </Table>
      )}
    </div>
  );
}

function Row({ record }: { readonly record: ActionRecord }) {
  const { at, agent, taskId, problem } = record;
  const { who, what } = wordsOf(record);
  const name = useAgent(agent ?? '')?.name ?? agent;
  return (
    <tr>
      <td class="mono">{dateTime(at)}</td>
      <td>{who}</td>
      <td>{what}</td>
      <td>
        {agent && taskId ? (
          <a href={hrefOf(agent, 'tasks', taskId)}>{`${name} · ${shortId(taskId)}`}</a>
        ) : (
          name
        )}
      </td>
      <td class={problem ? 'field-problem' : 'muted'}>{problem ?? 'done'}</td>
    </tr>
  );
}

/** Erases all that a caller has: first it says how much that is, then it wants the name once more. */
function ErasePerson({ onErased }: { readonly onErased: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [caller, setCaller] = useState('');
  const [typed, setTyped] = useState('');
  const [found, setFound] = useState<{ readonly isDone: boolean; readonly erased: readonly ErasedAt[] }>();
  const { act, isBusy, problem } = useAct();
  if (!useMay('erase')) return null;
  const ask = async (dryRun: boolean) => {
    const answer = await act<{ erased: readonly ErasedAt[] }>('/erase', { caller, dryRun });
    if (answer) setFound({ ...answer, isDone: !dryRun });
    if (!dryRun) onErased();
  };
  const name = (value: string) => {
    setCaller(value);
    setTyped('');
    setFound(undefined);
  };
  const canErase = found && !found.isDone && typed === caller;
  return (
    <>
      <ActButton onClick={() => dialog.current?.showModal()}>Erase a person …</ActButton>
      <Question
        title="Erase a person"
        dialog={dialog}
        onClose={() => name('')}
        buttons={
          <>
            <ActButton
              disabled={isBusy || caller === '' || found !== undefined}
              onClick={() => void ask(true)}
            >
              Look
            </ActButton>
            <ActButton kind="danger" disabled={isBusy || !canErase} onClick={() => void ask(false)}>
              Erase
            </ActButton>
          </>
        }
      >
        <TextField label="The person, as the agents know their caller" value={caller} onText={name} />
        {found?.erased.map(({ agent, tasks, files = 0, forks = 0, schedules = 0, left }, index) => (
          <p key={index} role="status">
            {`${agent}: ${plural(tasks, 'task')}, ${plural(files, 'file')}, ${plural(schedules, 'schedule')}`}
            {!found.isDone && `, ${plural(forks, 'fork')} among the tasks`}
            {found.isDone ? ' erased' : ''}
            {left.length > 0 &&
              `; ${left.length} at work${found.isDone ? ': erase again' : ', canceled first'}`}
          </p>
        ))}
        {found && !found.isDone && (
          <TextField label="The same name, to erase all of it for good" value={typed} onText={setTyped} />
        )}
        <ProblemNote problem={problem} />
      </Question>
    </>
  );
}
