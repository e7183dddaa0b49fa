import type { Part, Task } from '@batonjs/protocol';
import type { ComponentChildren } from 'preact';
import type { Sent } from '../../api/command.ts';
import type { Beside, Entry } from '../../api/timeline.ts';
import { agentPath } from '../data/api.ts';
import { hrefOf, listBefore, taskHref } from '../data/route.ts';
import { useAct, useAgent, useMay, useNow } from '../data/session.ts';
import { ActButton, CopyButton, Icon, ProblemNote, StateBadge } from '../parts/bits.tsx';
import { dateTime, duration, isTerminalState, plural, shortId } from '../parts/words.ts';
import type { Replay } from '../timeline/replay.ts';
import type { Timeline } from '../timeline/timeline.ts';
import type { TimelineState } from '../timeline/use-timeline.ts';
import { ChangeDialog, changeOf, changeOfMessage } from './change-dialog.tsx';
import { compareHref } from './compared.ts';

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
function TaskActions({ agent, task, scope, beside }: TaskActionsProps) {
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

interface TaskHeadProps {
  readonly agent: string;
  readonly task: string;
  readonly scope: number;
  /** It grows in place. */
  readonly timeline: Timeline;
  readonly state: TimelineState;
  readonly beside: Beside | undefined;
}

/** What a task is about, who began it and when, how long it took, and what can be done with it. */
export function TaskHead({ agent, task, scope, timeline, state, beside }: TaskHeadProps) {
  const { task: present, title, forkedFrom } = timeline.live;
  return (
    <header class="task-head">
      <div class="task-head-row">
        <a class="button button-quiet" href={listBefore() ?? hrefOf(agent, 'tasks')}>
          <Icon name="back" />
          Tasks
        </a>
        <span class="spacer" />
        {present && (
          <a
            class="button button-quiet"
            href={hrefOf(agent, 'tasks', undefined, { context: present.contextId })}
          >
            <Icon name="tasks" />
            Context
          </a>
        )}
        {present && <TaskActions {...{ agent, task: present, scope, beside }} />}
      </div>
      <h1 class="task-title" dir="auto">
        {title ?? `Task ${shortId(task)}`}
      </h1>
      <div class="task-facts">
        {present && <StateBadge state={present.status.state} />}
        <TaskFacts timeline={timeline} present={present} agent={agent} />
        <span class="mono muted" title={task}>
          {shortId(task)}
        </span>
        <CopyButton text={task} label="Copy id" />
        {!isTerminalState(present?.status.state ?? '') && <LinkState state={state} />}
      </div>
      {forkedFrom && (
        <p class="past-note" role="status">
          Run again of <a href={taskHref(agent, forkedFrom, scope)}>{shortId(forkedFrom)}</a> ·{' '}
          <a href={compareHref({ agent, task: forkedFrom }, { agent, task })}>compare</a>
        </p>
      )}
    </header>
  );
}

interface TaskFactsProps {
  readonly timeline: Timeline;
  readonly present: Task | undefined;
  readonly agent: string;
}

/** Who began a task and when, how long it took, and how often the agent was started. */
export function TaskFacts({ timeline, present, agent }: TaskFactsProps) {
  const name = useAgent(agent)?.name ?? agent;
  const { turn, attempts, labels, caller } = timeline.live;
  const started = timeline.rows.find(({ entry }) => entry.at)?.entry.at;
  const facts: ComponentChildren[] = [
    name,
    caller && `by ${caller}`,
    started && `started ${dateTime(started)}`,
    started && present && <Duration key="took" from={started} status={present.status} />,
    turn > 1 && plural(turn, 'turn'),
    attempts > turn && <span class="chip chip-again">{plural(attempts, 'attempt')}</span>,
  ];
  return (
    <>
      {facts.filter(Boolean).map((fact, index) => (
        <span key={index} class="task-fact">
          {fact}
        </span>
      ))}
      {labels.map((label) => (
        <a key={label} class="chip" href={hrefOf(agent, 'tasks', undefined, { q: `label:"${label}"` })}>
          {label}
        </a>
      ))}
    </>
  );
}

/** How long a task took, or takes so far. */
function Duration({ from, status }: { readonly from: string; readonly status: Task['status'] }) {
  const now = useNow(1_000);
  const isOver = isTerminalState(status.state);
  const until = isOver && status.timestamp ? Date.parse(status.timestamp) : now;
  const took = duration(Math.max(0, until - Date.parse(from)));
  return <>{isOver ? `took ${took}` : `for ${took}`}</>;
}

function LinkState({ state }: { readonly state: TimelineState }) {
  const words = { loading: 'Loading', live: 'Live', lost: 'Reconnecting' };
  return (
    <span class={`link-state link-${state}`} role="status">
      {words[state]}
    </span>
  );
}
