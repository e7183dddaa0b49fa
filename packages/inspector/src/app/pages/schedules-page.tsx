import type { AgentSchedules, Schedule } from '../../api/schedules.ts';
import { hrefOf, taskHref } from '../data/route.ts';
import { useAgent, useGet } from '../data/session.ts';
import { AgentMark } from '../parts/agent-mark.tsx';
import { Empty, Loading, PageHead, ProblemNote, StateBadge } from '../parts/bits.tsx';
import { ago, dateTime, until } from '../parts/words.ts';

/** How often the schedules are read again, in milliseconds. */
const everyMs = 3_000;

const missedWords: Readonly<Record<string, string>> = {
  skip: 'Missed times are passed over',
  last: 'Of missed times, the last one starts',
  all: 'Each missed time starts',
};

/** Work that recurs, of all agents: when it comes next, and what became of it. */
export function SchedulesPage() {
  const { value, error, again } = useGet<{ agents: readonly AgentSchedules[] }>('/schedules', everyMs);
  const found = value?.agents.filter(({ schedules, problem }) => schedules.length > 0 || problem);
  return (
    <div class="schedules-page">
      <PageHead title="Schedules" about="Work that recurs, as the stores of the agents know it" />
      <ProblemNote problem={error?.problem} onRetry={again} />
      {!value && !error && <Loading what="Reading schedules" />}
      {found?.length === 0 && (
        <Empty icon="schedules" title="No schedules">
          An agent gets recurring work with <code>schedules: recurring([…])</code> of its server.
        </Empty>
      )}
      {found?.map((each) => (
        <AgentPart key={each.agent} of={each} />
      ))}
    </div>
  );
}

function AgentPart({ of: { agent, schedules, problem } }: { readonly of: AgentSchedules }) {
  const name = useAgent(agent)?.name ?? agent;
  return (
    <section class="section" aria-label={name}>
      <header class="section-head schedules-head">
        <AgentMark id={agent} name={name} />
        <h2>{name}</h2>
      </header>
      <ProblemNote problem={problem} />
      <ul class="schedules">
        {schedules.map((schedule) => (
          <ScheduleItem key={schedule.name} agent={agent} schedule={schedule} />
        ))}
      </ul>
    </section>
  );
}

function ScheduleItem({ agent, schedule }: { readonly agent: string; readonly schedule: Schedule }) {
  const { name, cron, timezone, missed, nextAt, isOverdue, latestAt, label, tasks } = schedule;
  const now = Date.now();
  const next = nextAt === undefined ? 'never' : `${dateTime(nextAt)}, ${until(nextAt, now)}`;
  return (
    <li class="schedule">
      <div class="schedule-what">
        <h3>{name}</h3>
        <p class="muted">
          <code>{cron}</code> {timezone}
        </p>
        <p class="muted schedule-missed">{missedWords[missed] ?? missed}</p>
      </div>
      <div class="schedule-when">
        {isOverdue && nextAt ? (
          <span class="field-problem">Overdue since {dateTime(nextAt)}</span>
        ) : (
          <span>Next: {next}</span>
        )}
        <span class="muted">
          {latestAt ? `Last: ${dateTime(latestAt)}, ${ago(latestAt, now)}` : 'Not started yet'}
        </span>
      </div>
      <div class="schedule-tasks">
        {tasks.map(({ id, state, scope }) => (
          <a key={id} class="schedule-task" title={id} href={taskHref(agent, id, scope)}>
            <StateBadge state={state} />
          </a>
        ))}
        {tasks.length > 0 && (
          <a href={hrefOf(agent, 'tasks', undefined, { q: `label:"${label}"` })}>All its tasks</a>
        )}
      </div>
      {isOverdue && (
        <p class="schedule-overdue">
          No server has this schedule, or none can start its task. Start one that has it. One that was removed
          for good is forgotten by <code>baton schedules forget {name}</code>.
        </p>
      )}
    </li>
  );
}
