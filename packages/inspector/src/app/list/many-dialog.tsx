import { useRef, useState } from 'preact/hooks';
import type { TaskFilter } from '../../api/task.ts';
import { useMay, useSession } from '../data/session.ts';
import { ActButton } from '../forms/act-button.tsx';
import { ProblemNote } from '../parts/bits.tsx';
import { plural, shortId } from '../parts/words.ts';
import { type ManyAction, manyActions, useMany } from './use-many.ts';

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
  const [action, setAction] = useState<ManyAction>(offered[0] ?? 'cancel');
  const many = useMany(agent, filter, agents);
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
      <dialog ref={dialog} class="question" aria-label="Act on all listed tasks" onClose={many.abort}>
        <h2>Act on all listed tasks</h2>
        <label class="field">
          Do
          <select
            value={action}
            disabled={isRunning}
            onChange={(event) => setAction(event.currentTarget.value as ManyAction)}
          >
            {offered.map((each) => (
              <option key={each} value={each}>
                {manyActions[each].name}
              </option>
            ))}
          </select>
        </label>
        <p role="status">
          {isReading || !tasks
            ? 'Counting …'
            : `${manyActions[action].name}: ${plural(fitting.length, 'task')} of ${tasks.length.toLocaleString('en')} that are listed.`}
        </p>
        {fitting.length > 0 && done + failed.length === 0 && (
          <ul class="many-first">
            {fitting.slice(0, 5).map(({ id, title }) => (
              <li key={id}>{title ?? shortId(id)}</li>
            ))}
            {fitting.length > 5 && (
              <li class="muted">and {(fitting.length - 5).toLocaleString('en')} more</li>
            )}
          </ul>
        )}
        {(isRunning || done + failed.length > 0) && (
          <p role="status" class="many-progress">
            <progress max={many.all} value={done + failed.length} aria-label="Progress" />
            {`${done} done, ${failed.length} failed, of ${many.all}`}
          </p>
        )}
        {failed.slice(0, 5).map(({ id, message }) => (
          <p key={id} class="field-problem">{`${shortId(id)}: ${message}`}</p>
        ))}
        {problem && <ProblemNote problem={{ message: problem }} />}
        <div class="composer-tools">
          <span class="spacer" />
          {isRunning ? (
            <button type="button" class="button" onClick={many.abort}>
              Stop
            </button>
          ) : (
            <>
              <button type="button" class="button" onClick={() => dialog.current?.close()}>
                Close
              </button>
              <ActButton
                kind="danger"
                disabled={fitting.length === 0 || isReading}
                onClick={() => void many.run(action, fitting)}
              >
                {`${manyActions[action].name} (${fitting.length.toLocaleString('en')})`}
              </ActButton>
            </>
          )}
        </div>
      </dialog>
    </>
  );
}
