import type { Task } from '@batonjs/protocol';
import { useAgent, useMay } from '../data/session.ts';
import { Icon } from '../parts/icon.tsx';
import { isTerminalState } from '../parts/words.ts';
import { AnswerPanel } from './answer-panel.tsx';

/** What can be done for a task that has not ended. */
export function NextStep({ agent, task }: { readonly agent: string; readonly task: Task }) {
  const maySend = useMay('send');
  const summary = useAgent(agent);
  if (isTerminalState(task.status.state)) return null;
  return (
    <>
      <AuthNote task={task} />
      {maySend && summary?.canCall && <AnswerPanel agent={agent} task={task} />}
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
