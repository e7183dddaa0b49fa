import { useMemo, useState } from 'preact/hooks';
import { hrefOf, noteQuery } from '../data/route.ts';
import { Empty, Loading, ProblemNote } from '../parts/bits.tsx';
import { TaskState } from '../timeline/task-state.tsx';
import { TimelinePane } from '../timeline/timeline-pane.tsx';
import { useTimeline } from '../timeline/use-timeline.ts';
import { Waterfall } from '../timeline/waterfall.tsx';
import { NextStep } from './next-step.tsx';
import { ForkButton, TaskHead } from './task-actions.tsx';

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
  const count = Math.min(position ?? Number.POSITIVE_INFINITY, timeline.rows.length);
  const replay = useMemo(
    () => (position === undefined ? timeline.live : timeline.at(position)),
    [timeline, version, position],
  );
  const present = timeline.live.task;
  const row = timeline.rows[count - 1];

  if (problem && timeline.rows.length === 0)
    return (
      <>
        <ProblemNote problem={problem} />
        <a class="button" href={hrefOf(agent, 'tasks')}>
          All tasks of the agent
        </a>
      </>
    );
  return (
    <div class="task-page">
      <TaskHead {...{ agent, task, scope, timeline, state, beside }} />
      <ProblemNote problem={problem} />
      {timeline.rows.length === 0 ? (
        state === 'loading' ? (
          <Loading what="Reading the timeline" />
        ) : (
          <Empty icon="tasks" title="Nothing has happened yet" />
        )
      ) : (
        <div class="panes">
          <section class="pane pane-timeline" aria-label="Timeline of the task">
            <Waterfall timeline={timeline} version={version} onRow={(row) => goTo(row + 1)} />
            <TimelinePane timeline={timeline} version={version} position={position} onPosition={goTo} />
          </section>
          <section class="pane pane-state" aria-label="The task">
            <TaskState
              replay={replay}
              agent={agent}
              row={row}
              beside={position === undefined ? beside : undefined}
              isLive={position === undefined}
              onSeq={(seq) => goTo(timeline.rows.findIndex(({ entry }) => entry.seq === seq) + 1)}
            >
              {position === undefined && present && <NextStep agent={agent} replay={timeline.live} />}
              {position !== undefined && row && (
                <ForkButton {...{ agent, task, scope }} entry={row.entry} before={timeline.at(count - 1)} />
              )}
            </TaskState>
          </section>
        </div>
      )}
    </div>
  );
}
