import type { Task } from '@batonjs/protocol';
import { textOf } from '@batonjs/protocol/parts';
import { useRef, useState } from 'preact/hooks';
import type { Sent } from '../../api/command.ts';
import type { Beside } from '../../api/timeline.ts';
import { agentPath } from '../data/api.ts';
import { taskHref } from '../data/route.ts';
import { useAct, useAgent, useMay } from '../data/session.ts';
import { ActButton } from '../forms/act-button.tsx';
import { Icon, ProblemNote, Question } from '../parts/bits.tsx';
import { isTerminalState } from '../parts/words.ts';

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
  const said = textOf(first);
  const again = (message?: string) =>
    canFork
      ? act('fork', { message })
      : send({
          parts: message === undefined ? first?.parts : [{ text: message }],
          contextId: task.contextId,
          references: [task.id],
        });
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
          {said && <OtherWords said={said} onSend={(message) => void again(message)} />}
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

interface OtherWordsProps {
  /** The first message. */
  readonly said: string;
  readonly onSend: (message: string) => void;
}

/** Changes the first message before the task runs again. */
function OtherWords({ said, onSend }: OtherWordsProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState(said);
  const run = () => {
    dialog.current?.close();
    onSend(text);
  };
  return (
    <>
      <ActButton kind="quiet" class="other-words" onClick={() => dialog.current?.showModal()}>
        with other words …
      </ActButton>
      <Question
        title="Run again with other words"
        dialog={dialog}
        buttons={
          <>
            <button type="button" class="button" onClick={() => dialog.current?.close()}>
              Close
            </button>
            <ActButton kind="main" disabled={text.trim() === ''} onClick={run}>
              Run
            </ActButton>
          </>
        }
      >
        <label class="composer-text">
          <span class="field-name">The first message</span>
          <textarea
            rows={5}
            dir="auto"
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </label>
      </Question>
    </>
  );
}

interface ForkButtonProps {
  readonly agent: string;
  readonly task: string;
  readonly scope: number;
  /** The position of the log from which the new task goes on. */
  readonly seq: number;
}

/** Makes a task that goes on from a position of another one. */
export function ForkButton({ agent, task, scope, seq }: ForkButtonProps) {
  const mayFork = useMay('fork');
  const summary = useAgent(agent);
  const { act, isBusy, problem } = useTaskAction(agent, task, scope);
  if (!mayFork || !summary?.hasServer) return null;
  return (
    <>
      <ActButton disabled={isBusy} onClick={() => void act('fork', { position: seq })}>
        <Icon name="graph" />
        {`Fork from entry ${seq}`}
      </ActButton>
      <ProblemNote problem={problem} />
    </>
  );
}
