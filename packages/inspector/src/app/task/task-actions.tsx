import type { Part, Task } from '@batonjs/protocol';
import type { Sent } from '../../api/command.ts';
import type { Beside, Entry } from '../../api/timeline.ts';
import { agentPath } from '../data/api.ts';
import { taskHref } from '../data/route.ts';
import { useAct, useAgent, useMay } from '../data/session.ts';
import { ActButton } from '../forms/act-button.tsx';
import { Icon, ProblemNote } from '../parts/bits.tsx';
import { isTerminalState } from '../parts/words.ts';
import type { Replay } from '../timeline/replay.ts';
import { ChangeDialog, changeOf, changeOfMessage } from './change-dialog.tsx';

interface TaskActionsProps {
  readonly agent: string;
  readonly task: Task;
  readonly scope: number;
  /** What stands beside the log: its webhooks among it. */
  readonly beside: Beside | undefined;
}

/** Does something to a task, and keeps how that went. */
function useTaskAction(agent: string, taskId: string, scope: number) {
  const { act: ask, ...state } = useAct();
  const open = async (path: string, body: object) => {
    const made = (await ask<Sent>(path, body))?.taskId;
    // A task that was made is the one to look at now.
    if (made) location.hash = taskHref(agent, made, scope);
  };
  const act = (name: string, body: object = {}) =>
    open(agentPath(agent, 'tasks', taskId, name), { scope, ...body });
  const send = (body: object) => open(agentPath(agent, 'messages'), body);
  return { act, send, ...state };
}

/** Runs a task again, cancels it, or starts its next turn: as far as the viewer may and the inspector can. */
export function TaskActions({ agent, task, scope, beside }: TaskActionsProps) {
  const may = { cancel: useMay('cancel'), wake: useMay('wake'), fork: useMay('fork'), send: useMay('send') };
  const summary = useAgent(agent);
  const { act, send, busy, isBusy, problem } = useTaskAction(agent, task.id, scope);
  const mayRedeliver = useMay('redeliver') && beside?.deliveries.some(({ dead }) => dead !== undefined);
  const isOver = isTerminalState(task.status.state);
  const first = task.history?.find(({ role }) => role === 'ROLE_USER');
  const canFork = may.fork && summary?.hasServer;
  // Without the server, its first message is sent again.
  const canSend = !canFork && may.send && summary?.canCall && first !== undefined;
  const change = first && changeOfMessage(first);
  const again = (message?: readonly Part[]) =>
    canFork
      ? act('fork', { message })
      : send({ parts: message ?? first?.parts, contextId: task.contextId, references: [task.id] });
  return (
    <>
      <ProblemNote problem={problem} />
      {(canFork || canSend) && (
        <>
          <ActButton
            disabled={isBusy}
            title="Makes a new task of the first message"
            onClick={() => void again()}
          >
            <Icon name="turn" />
            Run again
          </ActButton>
          {change && (
            <ChangeDialog
              change={change}
              label="with other words …"
              onRun={({ message }) => void again(message)}
            />
          )}
        </>
      )}
      {mayRedeliver && (
        <ActButton
          disabled={isBusy}
          title="After the last update that arrived"
          onClick={() => void act('redeliver')}
        >
          <Icon name="delivery" />
          Retry webhooks
        </ActButton>
      )}
      {!isOver && may.wake && summary?.hasServer && (
        <ActButton disabled={isBusy} title="Starts the next turn" onClick={() => void act('wake')}>
          <Icon name="live" />
          Run now
        </ActButton>
      )}
      {!isOver && may.cancel && summary?.canCall && (
        <ActButton kind="danger" disabled={isBusy} onClick={() => void act('cancel')}>
          <Icon name="cancel" />
          {busy?.endsWith('/cancel') ? 'Canceling …' : 'Cancel task'}
        </ActButton>
      )}
    </>
  );
}

interface ForkButtonProps {
  readonly agent: string;
  readonly task: string;
  readonly scope: number;
  /** The entry from which the new task goes on, and the task before it. */
  readonly entry: Entry;
  readonly before: Replay;
}

/** Makes a task that goes on from an entry of another one, as it was or with something changed. */
export function ForkButton({ agent, task, scope, entry, before }: ForkButtonProps) {
  const { seq } = entry;
  const mayFork = useMay('fork');
  const summary = useAgent(agent);
  const { act, isBusy, problem } = useTaskAction(agent, task, scope);
  if (!mayFork || !summary?.hasServer) return null;
  const change = changeOf(entry, before);
  return (
    <>
      <ActButton disabled={isBusy} onClick={() => void act('fork', { position: seq })}>
        <Icon name="graph" />
        {`Fork from entry ${seq}`}
      </ActButton>
      {change && (
        <ChangeDialog
          key={seq}
          change={change}
          label={`Change ${change.title.toLowerCase()} …`}
          onRun={(asked) => void act('fork', asked)}
        />
      )}
      <ProblemNote problem={problem} />
    </>
  );
}
