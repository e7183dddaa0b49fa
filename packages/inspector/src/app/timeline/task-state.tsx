import type { Artifact, Task } from '@batonjs/protocol';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Beside, Delivery } from '../../api/timeline.ts';
import { hrefOf } from '../data/route.ts';
import { useSession } from '../data/session.ts';
import { ModelsSection } from '../models/models-section.tsx';
import { Icon, Section, StateBadge } from '../parts/bits.tsx';
import { Content, JsonView } from '../parts/content.tsx';
import { UnservedNote } from '../parts/unserved-note.tsx';
import { attemptName, clockTime, dateTime, plural, shortId } from '../parts/words.ts';
import { Conversation } from './conversation.tsx';
import { Failures, LogLines } from './log-lines.tsx';
import type { Replay } from './replay.ts';
import type { TimelineRow } from './timeline.ts';

interface TaskStateProps {
  readonly replay: Replay;
  readonly agent: string;
  /** The row at the position that is shown. */
  readonly row: TimelineRow | undefined;
  /** What stands beside the log; undefined for a position in the past, and for an agent without a store. */
  readonly beside: Beside | undefined;
  readonly isLive: boolean;
  /** Goes to the entry at a position of the log. */
  readonly onSeq: (seq: number) => void;
  /** What can be done next: after the conversation if the agent asks, else at the end. */
  readonly children: ComponentChildren;
}

/** A task as it was at a position: its status, its conversation, its artifacts, and the entry itself. */
export function TaskState(props: TaskStateProps) {
  const { replay, agent, row, beside, isLive, onSeq, children } = props;
  const { task } = replay;
  const [isRawOpen, setRawOpen] = useState(false);
  const isAsked = /_(INPUT|AUTH)_REQUIRED$/.test(task?.status.state ?? '');
  return (
    <div class="task-state">
      {!isLive && (
        <p class="past-note" role="status">
          The task as it was at entry {row?.entry.seq ?? 0}
          {row?.entry.at && `, ${clockTime(row.entry.at)}`}.
        </p>
      )}
      <TaskNow replay={replay} beside={beside} isLive={isLive} />
      <Failures failures={replay.failures} onSeq={onSeq} />
      <Section title="Conversation">
        <Conversation replay={replay} agent={agent} />
      </Section>
      {isAsked && children}
      {task?.artifacts && task.artifacts.length > 0 && (
        <Section title="Artifacts">
          {task.artifacts.map((artifact) => (
            <ArtifactView key={artifact.artifactId} artifact={artifact} agent={agent} />
          ))}
        </Section>
      )}
      {!isAsked && children}
      <Inside replay={replay} onSeq={onSeq} />
      {row && (
        <details
          class="raw-entry"
          open={isRawOpen}
          onToggle={(event) => setRawOpen(event.currentTarget.open)}
        >
          <summary>Entry {row.entry.seq} as JSON</summary>
          {isRawOpen && (
            <JsonView value={row.entry.fact ?? row.entry.event ?? row.entry.message ?? row.entry.notice} />
          )}
        </details>
      )}
    </div>
  );
}

/** Its state, turn and attempt, and what stands beside the log. */
function TaskNow({ replay, beside, isLive }: Pick<TaskStateProps, 'replay' | 'beside' | 'isLive'>) {
  const { task, turn, attempt, traceId } = replay;
  return (
    <>
      <div class="task-now">
        {!isLive && task && <StateBadge state={task.status.state} />}
        {!task && <span class="muted">Not a task yet</span>}
        {turn > 0 && (
          <span class={`chip ${attempt > 1 ? 'chip-again' : ''}`}>
            <Icon name="turn" />
            {attemptName(`Turn ${turn}`, attempt)}
          </span>
        )}
        <TraceLink traceId={traceId} />
        <ChildLinks replay={replay} />
        {beside && <BesideChips beside={beside} />}
        <TaskProgress task={task} />
      </div>
      {beside?.waitsFor && <UnservedNote what="Its turn waits" {...beside.waitsFor} />}
    </>
  );
}

/** What the agent called and logged: for those who run it, as no client sees it. */
const Inside = ({ replay, onSeq }: Pick<TaskStateProps, 'replay' | 'onSeq'>) => (
  <>
    <ModelsSection called={replay.called} lost={replay.lost} children={replay.children} onSeq={onSeq} />
    <LogLines logged={replay.logged} onSeq={onSeq} />
  </>
);

/** Leads to the trace of the last message, and so of the turn that it started. */
function TraceLink({ traceId }: { readonly traceId: string | undefined }) {
  const { traceUrl } = useSession();
  if (!traceUrl || !traceId) return null;
  return (
    <a class="chip" href={traceUrl.replaceAll('{traceId}', traceId)} target="_blank" rel="noreferrer">
      <Icon name="wire" />
      Trace
    </a>
  );
}

const mostChildren = 20;

/** Leads to the latest tasks that it started at agents that the inspector knows. */
function ChildLinks({ replay }: Pick<TaskStateProps, 'replay'>) {
  const { agents } = useSession();
  return Object.entries(replay.children)
    .slice(-mostChildren)
    .map(([child, { agent, taskId }]) => {
      const known = agents.find(({ id, name }) => id === agent || name === agent);
      if (!known || !taskId) return null;
      return (
        <a key={child} class="chip" href={hrefOf(known.id, 'tasks', taskId)} title={taskId}>
          <Icon name="graph" />
          {`Child ${child}: ${known.name} ${shortId(taskId)}`}
        </a>
      );
    });
}

export function ArtifactView({ artifact, agent }: { readonly artifact: Artifact; readonly agent: string }) {
  const { name, artifactId, description, parts } = artifact;
  return (
    <article class="artifact">
      <header class="artifact-head">
        <Icon name="artifact" />
        <h3>{name || artifactId}</h3>
        <span class="muted">{plural(parts.length, 'part')}</span>
      </header>
      {description && <p class="muted">{description}</p>}
      <Content parts={parts} agent={agent} />
    </article>
  );
}

function TaskProgress({ task }: { readonly task: Task | undefined }) {
  const value = Object.entries(task?.status.message?.metadata ?? {}).find(([uri]) =>
    uri.includes('task-progress'),
  )?.[1];
  const { progress, total } = Object(Object(value).aggregate) as { progress?: unknown; total?: unknown };
  if (typeof progress !== 'number' || typeof total !== 'number' || !(total > 0)) return null;
  return (
    <span class="task-progress">
      <progress max={total} value={progress} aria-label="Progress" />
      {`${progress} of ${total}`}
    </span>
  );
}

/** What stands beside the log of a task at present: who may write it, when it is due, how far its webhooks are. */
const BesideChips = ({ beside: { lease, dueAt, deliveries } }: { readonly beside: Beside }) => (
  <>
    {lease && (
      <span class="chip" title={lease.holder && `Held by ${lease.holder}`}>
        <Icon name="lease" />
        {lease.holder ? `Lease ${lease.fence}, held by ${shortId(lease.holder)}` : 'Waits for a process'}
      </span>
    )}
    {dueAt && (
      <span class="chip">
        <Icon name="deadline" />
        {`Due ${dateTime(dueAt)}`}
      </span>
    )}
    {deliveries.map((delivery) => (
      <span
        key={delivery.id}
        class={`chip ${delivery.dead || delivery.attempts > 0 ? 'chip-again' : ''}`}
        title={delivery.dead ?? delivery.url}
      >
        <Icon name="delivery" />
        {textOf(delivery)}
      </span>
    ))}
  </>
);

function textOf({ url, cursor, attempts, retryAt, dead }: Delivery): string {
  const host = URL.parse(url)?.host || url;
  if (dead) return `Webhook ${host} given up`;
  if (attempts > 0)
    return `Webhook ${host} failed ${plural(attempts, 'time')}${retryAt ? `, again ${dateTime(retryAt)}` : ''}`;
  return `Webhook ${host} has entry ${cursor}`;
}
