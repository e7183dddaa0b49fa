import type { Task } from '@batonjs/protocol';
import type { ComponentChildren } from 'preact';
import { hrefOf, listBefore } from '../data/route.ts';
import { useAgent } from '../data/session.ts';
import { useNow } from '../data/use-now.ts';
import { CopyButton, StateBadge } from '../parts/bits.tsx';
import { Icon } from '../parts/icon.tsx';
import { dateTime, duration, isTerminalState, plural, shortId } from '../parts/words.ts';
import type { Timeline } from '../timeline/timeline.ts';
import type { TimelineState } from '../timeline/use-timeline.ts';
import { TaskActions } from './task-actions.tsx';

interface TaskHeadProps {
  readonly agent: string;
  readonly task: string;
  readonly scope: number;
  /** It grows in place. */
  readonly timeline: Timeline;
  readonly state: TimelineState;
}

/** What a task is about, who began it and when, how long it took, and what can be done with it. */
export function TaskHead({ agent, task, scope, timeline, state }: TaskHeadProps) {
  const { task: present, title } = timeline.live;
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
            href={hrefOf(agent, 'graph', undefined, { context: present.contextId })}
          >
            <Icon name="graph" />
            Context
          </a>
        )}
        {present && <TaskActions agent={agent} task={present} scope={scope} />}
      </div>
      <h1 class="task-title">{title ?? `Task ${shortId(task)}`}</h1>
      <div class="task-facts">
        {present && <StateBadge state={present.status.state} />}
        <TaskFacts timeline={timeline} present={present} agent={agent} />
        <span class="mono muted" title={task}>
          {shortId(task)}
        </span>
        <CopyButton text={task} label="Copy id" />
        <LinkState state={state} />
      </div>
    </header>
  );
}

interface TaskFactsProps {
  readonly timeline: Timeline;
  readonly present: Task | undefined;
  readonly agent: string;
}

function TaskFacts({ timeline, present, agent }: TaskFactsProps) {
  const { turn, attempts, labels, caller } = timeline.live;
  const name = useAgent(agent)?.name ?? agent;
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
