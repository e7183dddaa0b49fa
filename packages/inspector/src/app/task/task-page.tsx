import type { Artifact, Task } from '@batonjs/protocol';
import { useMemo, useState } from 'preact/hooks';
import { noteQuery } from '../data/route.ts';
import { useAgent, useMay } from '../data/session.ts';
import { Empty, Loading, ProblemNote } from '../parts/bits.tsx';
import { Icon } from '../parts/icon.tsx';
import { isTerminalState } from '../parts/words.ts';
import { TaskState } from '../timeline/task-state.tsx';
import { TimelinePane } from '../timeline/timeline-pane.tsx';
import { useTimeline } from '../timeline/use-timeline.ts';
import { AnswerPanel } from './answer-panel.tsx';
import { TaskHead } from './task-head.tsx';
import { Versions } from './versions.tsx';

interface TaskPageProps {
  readonly agent: string;
  readonly task: string;
  readonly scope: number;
  /** The position that the address names: the entry up to which the task is shown. */
  readonly at: number | undefined;
}

/** One task: its timeline beside the task as it was at any position. */
export function TaskPage({ agent, task, scope, at }: TaskPageProps) {
  const { timeline, version, state, problem, beside } = useTimeline(agent, task, scope);
  const [position, setPosition] = useState(at);
  const goTo = (to: number | undefined) => {
    setPosition(to);
    noteQuery({ at: to === undefined ? '' : String(to) });
  };
  const [versions, setVersions] = useState<Artifact>();
  const count = Math.min(position ?? Number.POSITIVE_INFINITY, timeline.rows.length);
  const replay = useMemo(
    () => (position === undefined ? timeline.live : timeline.at(position)),
    [timeline, version, position],
  );
  const present = timeline.live.task;
  const row = timeline.rows[count - 1];

  if (problem && timeline.rows.length === 0) return <ProblemNote problem={{ message: problem }} />;
  return (
    <div class="task-page">
      <TaskHead agent={agent} task={task} scope={scope} timeline={timeline} state={state} />
      {problem && <ProblemNote problem={{ message: problem }} />}
      {timeline.rows.length === 0 ? (
        state === 'loading' ? (
          <Loading what="Reading the timeline" />
        ) : (
          <Empty icon="tasks" title="Nothing has happened yet" />
        )
      ) : (
        <div class="panes">
          <section class="pane pane-timeline" aria-label="Timeline of the task">
            <TimelinePane timeline={timeline} version={version} position={position} onPosition={goTo} />
          </section>
          <section class="pane pane-state" aria-label="The task">
            <TaskState
              replay={replay}
              agent={agent}
              row={row}
              beside={position === undefined ? beside : undefined}
              isLive={position === undefined}
              onVersions={setVersions}
            >
              {position === undefined && present && <NextStep agent={agent} task={present} />}
            </TaskState>
          </section>
        </div>
      )}
      {versions && present && (
        <Versions
          agent={agent}
          scope={scope}
          contextId={present.contextId ?? ''}
          artifact={versions}
          onClose={() => setVersions(undefined)}
        />
      )}
    </div>
  );
}

/** What can be done for a task that has not ended. */
function NextStep({ agent, task }: { readonly agent: string; readonly task: Task }) {
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
