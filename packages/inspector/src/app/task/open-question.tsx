import { hrefOf } from '../data/route.ts';
import { Icon, Loading, ProblemNote } from '../parts/bits.tsx';
import { Conversation } from '../timeline/conversation.tsx';
import { useTimeline } from '../timeline/use-timeline.ts';
import { AssignPanel } from './assign-panel.tsx';
import { NextStep } from './next-step.tsx';

/** A task that waits: what it is about, its conversation, and its form. */
export function OpenQuestion({ agent, task }: { readonly agent: string; readonly task: string }) {
  const { timeline, problem, state } = useTimeline(agent, task, 0);
  const { task: present, title } = timeline.live;
  if (problem && !present) return <ProblemNote problem={problem} />;
  if (!present) return state === 'loading' ? <Loading what="Reading the conversation" /> : null;
  return (
    <div class="open-question">
      <header class="section-head">
        <h2>{title}</h2>
        <a class="button button-quiet" href={hrefOf(agent, 'tasks', task)}>
          <Icon name="tasks" />
          Open the task
        </a>
      </header>
      <Conversation replay={timeline.live} agent={agent} />
      <NextStep agent={agent} replay={timeline.live} />
      {present.status.state === 'TASK_STATE_INPUT_REQUIRED' && (
        <AssignPanel agent={agent} task={task} asked={timeline.live.asked} />
      )}
    </div>
  );
}
