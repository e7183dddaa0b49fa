import { useEffect, useState } from 'preact/hooks';
import type { Assignee } from '../../api/task.ts';
import { noteQuery } from '../data/route.ts';
import { useNow } from '../data/session.ts';
import { type ListedRow, useTaskList } from '../list/task-lists.ts';
import { AgentCell } from '../parts/agent-mark.tsx';
import { Empty, Loading, PageHead, ProblemNote, StateBadge } from '../parts/bits.tsx';
import { VirtualList } from '../parts/virtual-list.tsx';
import { ago, dateTime, plural, shortId, until } from '../parts/words.ts';
import { OpenQuestion } from '../task/open-question.tsx';

/** The most open questions that are listed. */
const most = 2_000;

/** The open questions of all agents, the oldest first, and the chosen one with its conversation and its form. */
export function InboxPage({ query }: { readonly query: URLSearchParams }) {
  const input = useTaskList(undefined, { state: 'TASK_STATE_INPUT_REQUIRED' });
  const auth = useTaskList(undefined, { state: 'TASK_STATE_AUTH_REQUIRED' });
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
            <OpenQuestion key={`${open.agent} ${open.id}`} agent={open.agent} task={open.id} />
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
