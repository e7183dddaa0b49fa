import { useRef, useState } from 'preact/hooks';
import { ApiError, post } from '../data/api.ts';
import { ActButton } from '../forms/act-button.tsx';
import { AgeOptions, ProblemNote } from '../parts/bits.tsx';
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
  const [error, setError] = useState<ApiError>();
  const prune = () => {
    setError(undefined);
    post<{ deleted: number }>(`/agents/${encodeURIComponent(agent)}/prune`, { olderThanMs: age }).then(
      (answer) => setDeleted(answer.deleted),
      (failure: unknown) =>
        setError(failure instanceof ApiError ? failure : new ApiError(0, { message: String(failure) })),
    );
  };
  const show = () => {
    setDeleted(undefined);
    setError(undefined);
    dialog.current?.showModal();
  };
  return (
    <>
      <ActButton onClick={show}>Delete old …</ActButton>
      <dialog ref={dialog} class="question" aria-label="Delete old tasks">
        <h2>Delete old tasks</h2>
        <p>
          Tasks that ended, and have nothing left to deliver, are deleted for good. At most 1,000 at a time.
        </p>
        <label class="field">
          Tasks that ended
          <select value={age} onChange={(event) => setAge(Number(event.currentTarget.value))}>
            <AgeOptions ages={ages} />
          </select>
        </label>
        {deleted !== undefined && (
          <p role="status">{`${plural(deleted, 'task')} ${deleted === 1 ? 'was' : 'were'} deleted.`}</p>
        )}
        {error && <ProblemNote problem={error.problem} />}
        <div class="composer-tools">
          <span class="spacer" />
          <button type="button" class="button" onClick={() => dialog.current?.close()}>
            Close
          </button>
          <ActButton kind="danger" onClick={prune}>
            Delete
          </ActButton>
        </div>
      </dialog>
    </>
  );
}
