import { useRef, useState } from 'preact/hooks';
import type { TaskFilter } from '../../api/task.ts';
import { useMay, useSession } from '../data/session.ts';
import { ActButton } from '../forms/act-button.tsx';
import { ProblemNote, Question } from '../parts/bits.tsx';
import { Select } from '../parts/choice.tsx';
import { plural, shortId } from '../parts/words.ts';
import type { ListedRow } from './task-lists.ts';
import { type ManyAction, type ManyProgress, manyActions, useMany } from './use-many.ts';

/** How many tasks are named. */
const mostNamed = 5;

interface ManyDialogProps {
  readonly agent: string | undefined;
  readonly filter: TaskFilter;
  /** Nothing is listed. */
  readonly isEmpty: boolean;
}

/** Does the same to all tasks of a list: first it says to how many, then it shows how far it is, and can be ended. */
export function ManyDialog({ agent, filter, isEmpty }: ManyDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const { agents } = useSession();
  const may = { cancel: useMay('cancel'), fork: useMay('fork'), redeliver: useMay('redeliver') };
  const offered = (Object.keys(manyActions) as ManyAction[]).filter((action) => may[action]);
  const [chosen, setAction] = useState<ManyAction>();
  const many = useMany(agent, filter, agents);
  // The first that fits some of them, unless one was chosen.
  const action =
    chosen ?? offered.find((one) => many.tasks?.some(manyActions[one].fits)) ?? offered[0] ?? 'cancel';
  if (offered.length === 0) return null;
  const { tasks, isReading, done, failed, isRunning, problem } = many;
  const fitting = tasks?.filter(manyActions[action].fits) ?? [];
  const show = () => {
    dialog.current?.showModal();
    void many.read();
  };
  return (
    <>
      <ActButton disabled={isEmpty} onClick={show}>
        Act on all …
      </ActButton>
      <Question
        title="Act on all listed tasks"
        dialog={dialog}
        onClose={many.abort}
        buttons={
          <Buttons
            isRunning={isRunning}
            name={`${manyActions[action].name} (${fitting.length.toLocaleString('en')})`}
            isEmpty={fitting.length === 0 || isReading}
            onStop={many.abort}
            onClose={() => dialog.current?.close()}
            onRun={() => void many.run(action, fitting)}
          />
        }
      >
        <Select
          class="field"
          label="Do"
          chosen={action}
          disabled={isRunning}
          values={offered.map((each) => [each, manyActions[each].name])}
          onChoose={setAction}
        />
        <p role="status">
          {isReading || !tasks
            ? 'Counting …'
            : `${manyActions[action].name}: ${plural(fitting.length, 'task')} of ${tasks.length.toLocaleString('en')} that are listed.`}
        </p>
        {done + failed.length === 0 && !isRunning ? (
          <First tasks={fitting} />
        ) : (
          <Progress all={many.all} done={done} failed={failed} />
        )}
        <ProblemNote problem={problem} />
      </Question>
    </>
  );
}

interface ButtonsProps {
  readonly isRunning: boolean;
  readonly name: string;
  readonly isEmpty: boolean;
  readonly onStop: () => void;
  readonly onClose: () => void;
  readonly onRun: () => void;
}

function Buttons({ isRunning, name, isEmpty, onStop, onClose, onRun }: ButtonsProps) {
  return isRunning ? (
    <button type="button" class="button" onClick={onStop}>
      Stop
    </button>
  ) : (
    <>
      <button type="button" class="button" onClick={onClose}>
        Close
      </button>
      <ActButton kind="danger" disabled={isEmpty} onClick={onRun}>
        {name}
      </ActButton>
    </>
  );
}

/** The first tasks that are meant, and how many more there are. */
function First({ tasks }: { readonly tasks: readonly ListedRow[] }) {
  if (tasks.length === 0) return null;
  const more = tasks.length - mostNamed;
  return (
    <ul class="many-first">
      {tasks.slice(0, mostNamed).map(({ id, title }) => (
        <li key={id}>{title ?? shortId(id)}</li>
      ))}
      {more > 0 && <li class="muted">and {more.toLocaleString('en')} more</li>}
    </ul>
  );
}

/** How far it is, and the first tasks that failed. */
function Progress({ all, done, failed }: Pick<ManyProgress, 'all' | 'done' | 'failed'>) {
  return (
    <>
      <p role="status" class="many-progress">
        <progress max={all} value={done + failed.length} aria-label="Progress" />
        {`${done} done, ${failed.length} failed, of ${all}`}
      </p>
      {failed.slice(0, mostNamed).map(({ id, message }) => (
        <p key={id} class="field-problem">{`${shortId(id)}: ${message}`}</p>
      ))}
    </>
  );
}
