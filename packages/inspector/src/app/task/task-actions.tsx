import type { Task } from '@batonjs/protocol';
import { useState } from 'preact/hooks';
import { ApiError, post } from '../data/api.ts';
import { useAgent, useMay } from '../data/session.ts';
import { ActButton } from '../forms/act-button.tsx';
import { ProblemNote } from '../parts/bits.tsx';
import { Icon } from '../parts/icon.tsx';
import { isTerminalState } from '../parts/words.ts';

/** Cancels a task, or wakes it: as far as the viewer may and the inspector can. */
export function TaskActions({
  agent,
  task,
  scope,
}: {
  readonly agent: string;
  readonly task: Task;
  readonly scope: number;
}) {
  const mayCancel = useMay('cancel');
  const mayWake = useMay('wake');
  const summary = useAgent(agent);
  const [error, setError] = useState<ApiError>();
  const [busy, setBusy] = useState<string>();
  const act = async (name: string, body: object = {}) => {
    setBusy(name);
    setError(undefined);
    try {
      await post(`/agents/${encodeURIComponent(agent)}/tasks/${encodeURIComponent(task.id)}/${name}`, body);
    } catch (failure) {
      setError(failure instanceof ApiError ? failure : new ApiError(0, { message: String(failure) }));
    } finally {
      setBusy(undefined);
    }
  };
  if (isTerminalState(task.status.state)) return null;
  return (
    <>
      {error && <ProblemNote problem={error.problem} />}
      {mayWake && summary?.hasServer && (
        <ActButton disabled={busy !== undefined} onClick={() => void act('wake', { scope })}>
          <Icon name="turn" />
          Run now
        </ActButton>
      )}
      {mayCancel && summary?.canCall && (
        <ActButton kind="danger" disabled={busy !== undefined} onClick={() => void act('cancel')}>
          <Icon name="cancel" />
          {busy === 'cancel' ? 'Canceling …' : 'Cancel task'}
        </ActButton>
      )}
    </>
  );
}
