import type { Task } from '@batonjs/protocol';
import type { ComponentChildren } from 'preact';
import type { Beside } from '../../api/timeline.ts';
import { hrefOf, listBefore, taskHref } from '../data/route.ts';
import { useAgent, useNow } from '../data/session.ts';
import { CopyButton, Icon, StateBadge } from '../parts/bits.tsx';
import { dateTime, duration, isTerminalState, plural, shortId } from '../parts/words.ts';
import type { Timeline } from '../timeline/timeline.ts';
import type { TimelineState } from '../timeline/use-timeline.ts';
import { compareHref } from './compared.ts';
import { TaskActions } from './task-actions.tsx';

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
  const name = useAgent(agent)?.name ?? agent;
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
        <TaskFacts timeline={timeline} present={present} agent={agent} name={name} />
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
  /** The name of the agent. */
  readonly name: string;
}

/** Who began a task and when, how long it took, and how often the agent was started. */
export function TaskFacts({ timeline, present, agent, name }: TaskFactsProps) {
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
