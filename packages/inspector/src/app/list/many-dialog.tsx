import { useRef, useState } from 'preact/hooks';
import type { ListQuery } from '../../api/task.ts';
import { useSession } from '../data/session.ts';
import { ActButton, Button, ProblemNote, Question } from '../parts/bits.tsx';
import { Select } from '../parts/choice.tsx';
import { counted, plural, shortId } from '../parts/words.ts';
import type { ListedRow } from './task-lists.ts';
import { type ManyAction, type ManyProgress, manyActions, useMany, useOffered } from './use-many.ts';

/** How many tasks are named. */
const mostNamed = 5;

interface ManyDialogProps {
  readonly agent: string | undefined;
  readonly filter: ListQuery;
  /** Nothing is listed. */
  readonly isEmpty: boolean;
  /** Only these, if there are any. */
  readonly ticked: readonly ListedRow[];
}

/** Does the same to all tasks of a list, or to those that are ticked: first it says to how many, then it shows how far it is, and can be ended. */
export function ManyDialog({ agent, filter, isEmpty, ticked }: ManyDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const { agents } = useSession();
  const offered = useOffered();
  const [chosen, setAction] = useState<ManyAction>();
  const many = useMany(agent, filter, agents, ticked);
  const which = ticked.length > 0 ? 'ticked' : 'listed';
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
        {ticked.length > 0 ? `Act on ${counted(ticked.length)} ticked …` : 'Act on all …'}
      </ActButton>
      <Question
        title={`Act on all ${which} tasks`}
        dialog={dialog}
        onClose={many.abort}
        buttons={<RunButton many={many} action={action} fitting={fitting} />}
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
            : `${manyActions[action].name}: ${plural(fitting.length, 'task')} of ${counted(tasks.length)} that are ${which}.`}
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

interface RunButtonProps {
  readonly many: ReturnType<typeof useMany>;
  readonly action: ManyAction;
  readonly fitting: readonly ListedRow[];
}

const RunButton = ({ many: { isRunning, isReading, abort, run }, action, fitting }: RunButtonProps) =>
  isRunning ? (
    <Button onClick={abort}>Stop</Button>
  ) : (
    <ActButton
      kind="danger"
      disabled={fitting.length === 0 || isReading}
      onClick={() => void run(action, fitting)}
    >
      {`${manyActions[action].name} (${counted(fitting.length)})`}
    </ActButton>
  );

/** The first tasks that are meant, and how many more there are. */
function First({ tasks }: { readonly tasks: readonly ListedRow[] }) {
  if (tasks.length === 0) return null;
  const more = tasks.length - mostNamed;
  return (
    <ul class="many-first">
      {tasks.slice(0, mostNamed).map(({ id, title }) => (
        <li key={id}>{title ?? shortId(id)}</li>
      ))}
      {more > 0 && <li class="muted">and {counted(more)} more</li>}
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
