import { formOf } from '@batonjs/extensions/client';
import type { Artifact, Message, Task } from '@batonjs/protocol';
import { useSession } from '../data/session.ts';
import { Section, StateBadge } from '../parts/bits.tsx';
import { Content } from '../parts/content.tsx';
import { Icon } from '../parts/icon.tsx';
import { JsonView } from '../parts/json-view.tsx';
import { clockTime } from '../parts/words.ts';
import type { Replay } from './replay.ts';
import type { TimelineRow } from './timeline.ts';

interface TaskStateProps {
  readonly replay: Replay;
  readonly agent: string;
  /** The row at the position that is shown. */
  readonly row: TimelineRow | undefined;
  readonly isLive: boolean;
  /** Opens the versions of an artifact in the task's context. */
  readonly onVersions: (artifact: Artifact) => void;
}

/** A task as it was at a position: its status, its conversation, its artifacts, and the entry itself. */
export function TaskState({ replay, agent, row, isLive, onVersions }: TaskStateProps) {
  const { task } = replay;
  const history = task?.history ?? replay.messages;
  const message = task?.status.message;
  const isRepeated = history.some(({ messageId }) => messageId === message?.messageId);
  return (
    <div class="task-state">
      {!isLive && (
        <p class="past-note" role="status">
          The task as it was at entry {row?.entry.seq ?? 0}
          {row?.entry.at && `, ${clockTime(row.entry.at)}`}.
        </p>
      )}
      <div class="task-now">
        {task ? <StateBadge state={task.status.state} /> : <span class="muted">Not a task yet</span>}
        {replay.turn > 0 && (
          <span class={`chip ${replay.attempt > 1 ? 'chip-again' : ''}`}>
            <Icon name="turn" />
            {`Turn ${replay.turn}${replay.attempt > 1 ? `, attempt ${replay.attempt}` : ''}`}
          </span>
        )}
        <TraceLink traceId={replay.traceId} />
        <TaskProgress task={task} />
      </div>
      <Section title="Conversation">
        <ol class="conversation">
          {history.map((each) => (
            <MessageView key={each.messageId} message={each} agent={agent} />
          ))}
          {message && !isRepeated && <MessageView message={message} agent={agent} />}
        </ol>
        {history.length === 0 && !message && <p class="muted">No messages so far.</p>}
      </Section>
      {task?.artifacts && task.artifacts.length > 0 && (
        <Section title="Artifacts">
          {task.artifacts.map((artifact) => (
            <ArtifactView
              key={artifact.artifactId}
              artifact={artifact}
              agent={agent}
              onVersions={onVersions}
            />
          ))}
        </Section>
      )}
      {row && (
        <details class="raw-entry">
          <summary>Entry {row.entry.seq} as JSON</summary>
          <JsonView value={row.entry.fact ?? row.entry.event ?? row.entry.message ?? row.entry.notice} />
        </details>
      )}
    </div>
  );
}

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

function MessageView({ message, agent }: { readonly message: Message; readonly agent: string }) {
  const isAgent = message.role === 'ROLE_AGENT';
  // The form of a question is shown where it is answered.
  const parts = isAgent
    ? message.parts.filter(({ mediaType }) => !mediaType?.includes('.form+json'))
    : message.parts;
  return (
    <li class={`message ${isAgent ? 'message-agent' : 'message-user'}`}>
      <span class="message-role">{isAgent ? 'Agent' : 'Client'}</span>
      <Content parts={parts} agent={agent} />
    </li>
  );
}

interface ArtifactViewProps {
  readonly artifact: Artifact;
  readonly agent: string;
  readonly onVersions: (artifact: Artifact) => void;
}

function ArtifactView({ artifact, agent, onVersions }: ArtifactViewProps) {
  const { name, artifactId, description, parts } = artifact;
  return (
    <article class="artifact">
      <header class="artifact-head">
        <Icon name="artifact" />
        <h3>{name || artifactId}</h3>
        <span class="muted">{parts.length === 1 ? '1 part' : `${parts.length} parts`}</span>
        <button type="button" class="button button-quiet" onClick={() => onVersions(artifact)}>
          Versions
        </button>
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

/** The form that a task waits for, if it waits for one. */
export const formOfTask = (task: Task | undefined) => (task ? formOf(task) : undefined);
