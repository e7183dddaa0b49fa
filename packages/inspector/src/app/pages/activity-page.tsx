import { useRef, useState } from 'preact/hooks';
import { type ActionRecord, actions, type ErasedAt } from '../../api/agent.ts';
import { hrefOf } from '../data/route.ts';
import { useAct, useAgent, useGet, useMay } from '../data/session.ts';
import {
  ActButton,
  Empty,
  Loading,
  PageHead,
  ProblemNote,
  Question,
  Table,
  TextField,
} from '../parts/bits.tsx';
import { dateTime, plural, shortId } from '../parts/words.ts';

/** How often the records are read again, in milliseconds. */
const everyMs = 2_000;

/** Who did what with this inspector, the newest first. */
export function ActivityPage() {
  const { value, error, again } = useGet<{ records: readonly ActionRecord[] }>('/activity', everyMs);
  if (error && !value) return <ProblemNote problem={error.problem} onRetry={again} />;
  if (!value) return <Loading what="Reading the activity" />;
  return (
    <div class="activity-page">
      <PageHead title="Activity" about="What was done with this inspector since its process began">
        <ErasePerson onErased={again} />
      </PageHead>
      {value.records.length === 0 ? (
        <Empty icon="check" title="Nothing was done yet" />
      ) : (
        <Table columns={['When', 'Who', 'What', 'Task', 'Outcome']}>
          {value.records.map((record, index) => (
            <Row key={value.records.length - index} record={record} />
          ))}
        </Table>
      )}
    </div>
  );
}

function Row({ record: { at, by, action, agent, taskId, problem } }: { readonly record: ActionRecord }) {
  const name = useAgent(agent ?? '')?.name ?? agent;
  return (
    <tr>
      <td class="mono">{dateTime(at)}</td>
      <td>{by ?? 'holder of the token'}</td>
      <td>{actions[action][1]}</td>
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
