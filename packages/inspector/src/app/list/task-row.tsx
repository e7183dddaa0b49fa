import { AgentCell } from '../parts/agent-mark.tsx';
import { StateBadge } from '../parts/bits.tsx';
import { ago, duration, isTerminalState, oneLine, saidBeside, shortId } from '../parts/words.ts';
import type { ListedRow } from './task-lists.ts';

/** For how long a change of the state is news, in milliseconds: a little longer than it moves. */
const newsMs = 1_000;

interface TaskCellsProps {
  readonly task: ListedRow;
  readonly now: number;
  /** Whether tasks of several agents are listed. */
  readonly hasAgent: boolean;
}

/** A task in a list: its state once, what it is about, what was said last, when. */
export function TaskCells({ task, now, hasAgent }: TaskCellsProps) {
  const { id, title, labels = [], code, attempt = 0, turn = 0, statusAt, startedAt, state } = task;
  const { changedAt, waitsFor } = task;
  const isNews = changedAt !== undefined && performance.now() - changedAt < newsMs;
  return (
    <>
      <span key={`${id} ${changedAt}`} class={isNews ? 'is-changed' : ''}>
        <StateBadge state={state} />
      </span>
      <span class="cell-task">
        <span class="cell-title" dir="auto">
          {title ?? shortId(id)}
        </span>
        <span class="cell-sub">
          {hasAgent && <AgentCell id={task.agent} />}
          {waitsFor && <span class="chip chip-bad">waits for version {waitsFor}</span>}
          {code && <span class="chip chip-bad">{code}</span>}
          {turn > 1 && <span>{turn} turns</span>}
          {attempt > 1 && <span class="chip chip-again">attempt {attempt}</span>}
          {labels.map((label) => (
            <span key={label} class="chip">
              {label}
            </span>
          ))}
          <span class="mono">{shortId(id)}</span>
        </span>
      </span>
      <span class="cell-text" dir="auto">
        {oneLine(saidBeside(state, task.text))}
      </span>
      <span class="cell-age">
        <span>{statusAt ? ago(statusAt, now) : ''}</span>
        {startedAt && statusAt && isTerminalState(state) && (
          <span class="cell-sub">
            took {duration(Math.max(0, Date.parse(statusAt) - Date.parse(startedAt)))}
          </span>
        )}
      </span>
    </>
  );
}
