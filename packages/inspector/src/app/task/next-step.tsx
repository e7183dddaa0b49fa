import type { Task } from '@batonjs/protocol';
import { useAgent, useMay } from '../data/session.ts';
import { Icon } from '../parts/icon.tsx';
import { isTerminalState } from '../parts/words.ts';
import type { Replay } from '../timeline/replay.ts';
import { AnswerPanel } from './answer-panel.tsx';

/** What can be done for a task that has not ended. */
export function NextStep({ agent, replay }: { readonly agent: string; readonly replay: Replay }) {
  const { task, question } = replay;
  const maySend = useMay('send');
  const summary = useAgent(agent);
  if (!task || isTerminalState(task.status.state)) return null;
  const isReserved = task.status.state === 'TASK_STATE_INPUT_REQUIRED' && question?.onlyBy !== undefined;
  return (
    <>
      <AuthNote task={task} />
      {isReserved && (
        <p class="auth-note" role="note">
          Only a person with an answer link may answer this question
          {question?.onlyBy === 'link' ? '' : `: ${question?.onlyBy?.join(', ')}`}.
        </p>
      )}
      {!isReserved && maySend && summary?.canCall && (
        <AnswerPanel agent={agent} task={task} question={question} />
      )}
    </>
  );
}

/** What to do while an agent waits for an authorization. */
function AuthNote({ task }: { readonly task: Task }) {
  if (task.status.state !== 'TASK_STATE_AUTH_REQUIRED') return null;
  return (
    <div class="auth-note" role="note">
      <Icon name="lock" />
      <div>
        <p class="auth-title">The agent waits for an authorization</p>
        <p>
          Follow its message above, at the service that it names: the permission is given there and not here.
          Most agents go on by themselves once it is given. If this one does not, send it a message.
        </p>
        <p>Never send a password or a token as a message: messages are kept with the task.</p>
      </div>
    </div>
  );
}
