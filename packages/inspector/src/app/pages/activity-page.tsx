import type { ActionRecord } from '../../api/activity.ts';
import { actions } from '../../api/agent.ts';
import { hrefOf } from '../data/route.ts';
import { useAgent, useGet } from '../data/session.ts';
import { Empty, Loading, PageHead, ProblemNote, Table } from '../parts/bits.tsx';
import { dateTime, shortId } from '../parts/words.ts';

/** How often the records are read again, in milliseconds. */
const everyMs = 2_000;

/** Who did what with this inspector, the newest first. */
export function ActivityPage() {
  const { value, error, again } = useGet<{ records: readonly ActionRecord[] }>('/activity', everyMs);
  if (error && !value) return <ProblemNote problem={error.problem} onRetry={again} />;
  if (!value) return <Loading what="Reading the activity" />;
  return (
    <div class="activity-page">
      <PageHead title="Activity" about="What was done with this inspector since its process began" />
      {value.records.length === 0 ? (
        <Empty icon="check" title="Nothing was done yet" />
      ) : (
        <Table columns={['When', 'Who', 'What', 'Task', 'Outcome']}>
          {value.records.map((record, index) => (
            <Row key={value.records.length - index} record={record} />
          ))}
        </Table>
      )}
    </div>
  );
}

function Row({ record: { at, by, action, agent, taskId, problem } }: { readonly record: ActionRecord }) {
  const name = useAgent(agent ?? '')?.name ?? agent;
  return (
    <tr>
      <td class="mono">{dateTime(at)}</td>
      <td>{by ?? 'holder of the token'}</td>
      <td>{actions[action][1]}</td>
      <td>
        {agent && taskId ? (
          <a href={hrefOf(agent, 'tasks', taskId)}>{`${name} · ${shortId(taskId)}`}</a>
        ) : (
          name
        )}
      </td>
      <td class={problem ? 'field-problem' : 'muted'}>{problem ?? 'done'}</td>
    </tr>
  );
}
