import { useRef, useState } from 'preact/hooks';
import { agentPath } from '../data/api.ts';
import { useAct } from '../data/session.ts';
import { ActButton } from '../forms/act-button.tsx';
import { ProblemNote, Question } from '../parts/bits.tsx';
import { Select } from '../parts/choice.tsx';
import { plural } from '../parts/words.ts';

const ages: readonly (readonly [number, string])[] = [
  [30 * 86_400_000, 'more than 30 days ago'],
  [7 * 86_400_000, 'more than 7 days ago'],
  [86_400_000, 'more than a day ago'],
  [3_600_000, 'more than an hour ago'],
  [0, 'until now'],
];

/** Deletes tasks that ended long ago, after a question. */
export function PruneButton({ agent }: { readonly agent: string }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [age, setAge] = useState(ages[0]![0]);
  const [deleted, setDeleted] = useState<number>();
  const { act, problem } = useAct();
  const prune = async () =>
    setDeleted((await act<{ deleted: number }>(agentPath(agent, 'prune'), { olderThanMs: age }))?.deleted);
  const show = () => {
    setDeleted(undefined);
    dialog.current?.showModal();
  };
  return (
    <>
      <ActButton onClick={show}>Delete old …</ActButton>
      <Question
        title="Delete old tasks"
        dialog={dialog}
        buttons={
          <>
            <button type="button" class="button" onClick={() => dialog.current?.close()}>
              Close
            </button>
            <ActButton kind="danger" onClick={() => void prune()}>
              Delete
            </ActButton>
          </>
        }
      >
        <p>
          Tasks that ended, and have nothing left to deliver, are deleted for good. At most 1,000 at a time.
        </p>
        <Select class="field" label="Tasks that ended" chosen={age} values={ages} onChoose={setAge} />
        {deleted !== undefined && (
          <p role="status">{`${plural(deleted, 'task')} ${deleted === 1 ? 'was' : 'were'} deleted.`}</p>
        )}
        <ProblemNote problem={problem} />
      </Question>
    </>
  );
}
