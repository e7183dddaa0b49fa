import { useEffect, useState } from 'preact/hooks';
import type { AnswerLink } from '../../api/command.ts';
import type { Assignee } from '../../api/task.ts';
import { agentPath } from '../data/api.ts';
import { noteQuery, taskHref } from '../data/route.ts';
import { useAct, useAgent, useMay, useNow } from '../data/session.ts';
import { type ListedRow, useTaskList } from '../list/task-lists.ts';
import { AgentCell } from '../parts/agent-mark.tsx';
import { Empty, Icon, Loading, PageHead, ProblemNote, StateBadge } from '../parts/bits.tsx';
import { LinkForm } from '../parts/link-form.tsx';
import { VirtualList } from '../parts/virtual-list.tsx';
import { ago, dateTime, plural, shortId, until } from '../parts/words.ts';
import { NextStep } from '../task/next-step.tsx';
import { Conversation } from '../timeline/conversation.tsx';
import type { Asked } from '../timeline/entry-details.ts';
import { useTimeline } from '../timeline/use-timeline.ts';

/** The most open questions that are listed. */
const most = 2_000;

/** The open questions of all agents, the oldest first, and the chosen one with its conversation and its form. */
export function InboxPage({ query }: { readonly query: URLSearchParams }) {
  const agent = query.get('agent') || undefined;
  const input = useTaskList(agent, { state: 'TASK_STATE_INPUT_REQUIRED' });
  const auth = useTaskList(agent, { state: 'TASK_STATE_AUTH_REQUIRED' });
  const rows = [...input.rows, ...auth.rows].sort((one, other) =>
    (one.statusAt ?? '').localeCompare(other.statusAt ?? ''),
  );
  // The oldest stand at the end of the lists that stores give.
  useEffect(() => {
    if (rows.length < most) input.more();
    if (rows.length < most) auth.more();
  }, [input.rows.length, auth.rows.length]);
  const [chosen, setChosen] = useState(() => query.get('task'));
  const open = rows.find(({ id }) => id === chosen) ?? rows[0];
  const choose = (row: ListedRow | undefined) => {
    setChosen(row?.id ?? null);
    noteQuery({ task: row?.id ?? '' });
  };
  const isLoading = input.isLoading || auth.isLoading;
  const problem = input.problem ?? auth.problem;
  return (
    <div class="inbox-page">
      <PageHead
        title="Inbox"
        about={!isLoading && `${plural(rows.length, 'open question')}, the oldest first`}
      />
      <ProblemNote problem={problem} />
      {isLoading && !problem && <Loading what="Reading the open questions" />}
      {!isLoading && rows.length === 0 && (
        <Empty icon="check" title="Nothing waits for an answer">
          Questions of all agents appear here as they are asked.
        </Empty>
      )}
      {open && (
        <div class="panes" style={{ '--questions': String(rows.length) }}>
          <section class="pane pane-inbox" aria-label="Open questions">
            <Questions rows={rows} open={open} onChoose={choose} />
          </section>
          <section class="pane pane-question" aria-label="The question">
            <OpenQuestion key={`${open.agent} ${open.id}`} {...open} task={open.id} />
          </section>
        </div>
      )}
    </div>
  );
}

interface QuestionsProps {
  readonly rows: readonly ListedRow[];
  readonly open: ListedRow;
  readonly onChoose: (row: ListedRow | undefined) => void;
}

function Questions({ rows, open, onChoose }: QuestionsProps) {
  const now = useNow();
  return (
    <VirtualList
      items={rows}
      rowHeight={72}
      label="Questions"
      selected={rows.indexOf(open)}
      onSelect={(index) => onChoose(rows[index])}
      rowClass={() => 'question-row'}
      row={(row) => <QuestionCells row={row} now={now} />}
    />
  );
}

function QuestionCells({ row, now }: { readonly row: ListedRow; readonly now: number }) {
  const { title, id, text, statusAt, dueAt, state, assignees = [] } = row;
  return (
    <>
      <span class="cell-title">{title ?? shortId(id)}</span>
      <span class="cell-text">{text}</span>
      <span class="cell-sub">
        <AgentCell id={row.agent} />
        {row.caller && <span>{row.caller}</span>}
        {statusAt && <span>{ago(statusAt, now)}</span>}
        {dueAt && (
          <span class={Date.parse(dueAt) - now < 3_600_000 ? 'is-due' : ''} title={dateTime(dueAt)}>
            due {until(dueAt, now)}
          </span>
        )}
        {assignees.length > 0 && <Assigned assignees={assignees} now={now} />}
        {state !== 'TASK_STATE_INPUT_REQUIRED' && <StateBadge state={state} />}
      </span>
    </>
  );
}

/** Who has the question: those whose links still take an answer, else those whose links have ended. */
function Assigned({ assignees, now }: { readonly assignees: readonly Assignee[]; readonly now: number }) {
  const open = assignees.filter(({ expiresAt }) => Date.parse(expiresAt) > now);
  const names = (open.length > 0 ? open : assignees).map(({ by }) => by).join(', ');
  return (
    <span class="cell-assigned" title={`Assigned to ${names}`}>
      {open.length > 0 ? `with ${names}` : `link of ${names} ended`}
    </span>
  );
}

interface OpenQuestionProps {
  readonly agent: string;
  readonly task: string;
  readonly scope?: number;
}

/** A task that waits: what it is about, its conversation, and its form. */
function OpenQuestion({ agent, task, scope = 0 }: OpenQuestionProps) {
  const { timeline, problem, state } = useTimeline(agent, task, scope);
  const { task: present, title } = timeline.live;
  if (problem && !present) return <ProblemNote problem={problem} />;
  if (!present) return state === 'loading' ? <Loading what="Reading the conversation" /> : null;
  return (
    <div class="open-question">
      <header class="section-head">
        <h2>{title}</h2>
        <a class="button button-quiet" href={taskHref(agent, task, scope)}>
          <Icon name="tasks" />
          Open the task
        </a>
      </header>
      <Conversation replay={timeline.live} agent={agent} />
      <NextStep agent={agent} replay={timeline.live} />
      {present.status.state === 'TASK_STATE_INPUT_REQUIRED' && (
        <AssignPanel {...{ agent, task, scope }} asked={timeline.live.asked} />
      )}
    </div>
  );
}

interface AssignPanelProps extends OpenQuestionProps {
  readonly asked: readonly Asked[];
}

/** Who was asked the question by a link, and a way to ask someone else. */
function AssignPanel({ agent, task, scope, asked }: AssignPanelProps) {
  const { hasServer } = useAgent(agent) ?? {};
  const canAssign = useMay('assign') && hasServer;
  if (asked.length === 0 && !canAssign) return null;
  return (
    <section class="assign" aria-label="Assigned to">
      {asked.length > 0 && (
        <ul class="assigned">
          {asked.map(({ by, assignedBy, expiresAt }, index) => (
            <li key={index}>
              <strong>{by}</strong> was asked by {assignedBy ?? 'the agent'}, until {dateTime(expiresAt)}
            </li>
          ))}
        </ul>
      )}
      {canAssign && <AssignForm {...{ agent, task, scope }} />}
    </section>
  );
}

function AssignForm({ agent, task, scope }: OpenQuestionProps) {
  const { act, problem } = useAct();
  const make = async (to: string, expiresMs: number) =>
    (await act<AnswerLink>(agentPath(agent, 'tasks', task, 'assign'), { to, expiresMs, scope }))?.url;
  return (
    <>
      <LinkForm
        label="Assign to"
        placeholder="A name or a mail address"
        maxLength={200}
        days={1}
        does="answers once"
        make={make}
      />
      <ProblemNote problem={problem} />
    </>
  );
}
