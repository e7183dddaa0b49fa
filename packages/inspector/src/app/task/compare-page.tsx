import { hrefOf } from '../data/route.ts';
import { Empty, Loading, PageHead, ProblemNote, StateBadge } from '../parts/bits.tsx';
import { Conversation } from '../timeline/conversation.tsx';
import { Failures } from '../timeline/log-lines.tsx';
import { ArtifactView } from '../timeline/task-state.tsx';
import { useTimeline } from '../timeline/use-timeline.ts';
import { Waterfall } from '../timeline/waterfall.tsx';
import { readCompared } from './compared.ts';
import { TaskFacts } from './task-actions.tsx';

/** Two tasks side by side: how long each part took, what went wrong, what was said and made. */
export function ComparePage({ query }: { readonly query: URLSearchParams }) {
  const sides = [readCompared(query.get('a')), readCompared(query.get('b'))];
  return (
    <div class="compare-page">
      <PageHead title="Compare" />
      <div class="panes">
        {sides.map((side, index) =>
          side ? (
            <Side
              key={`${index} ${side.agent} ${side.task}`}
              {...side}
              label={index === 0 ? 'Left' : 'Right'}
            />
          ) : (
            <Empty key={index} icon="tasks" title="No task to compare">
              Open a task that was run again: it leads to both.
            </Empty>
          ),
        )}
      </div>
    </div>
  );
}

interface SideProps {
  readonly agent: string;
  readonly task: string;
  readonly label: string;
}

function Side({ agent, task, label }: SideProps) {
  const { timeline, version, state, problem } = useTimeline(agent, task, 0);
  const { task: present, title, failures } = timeline.live;
  const go = () => {
    location.hash = hrefOf(agent, 'tasks', task);
  };
  return (
    <section class="pane pane-compared" aria-label={`${label} task`}>
      <ProblemNote problem={problem} />
      {!present && state === 'loading' && <Loading what="Reading the task" />}
      {present && (
        <>
          <h2>
            <a href={hrefOf(agent, 'tasks', task)}>{title ?? task}</a>
          </h2>
          <div class="task-facts">
            <StateBadge state={present.status.state} />
            <TaskFacts timeline={timeline} present={present} agent={agent} />
          </div>
          <Waterfall
            timeline={timeline}
            version={version}
            label={`Waterfall, ${label.toLowerCase()}`}
            onRow={go}
          />
          <Failures failures={failures} onSeq={go} />
          <Conversation replay={timeline.live} agent={agent} />
          {present.artifacts?.map((artifact) => (
            <ArtifactView key={artifact.artifactId} artifact={artifact} agent={agent} />
          ))}
        </>
      )}
    </section>
  );
}
