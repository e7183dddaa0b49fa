import type { ActionRecord } from '../../api/activity.ts';
import type { Action } from '../../api/agent.ts';
import { hrefOf } from '../data/route.ts';
import { useAgent, useGet } from '../data/session.ts';
import { useEvery } from '../data/use-now.ts';
import { Empty, Loading, ProblemNote } from '../parts/bits.tsx';
import { dateTime, shortId } from '../parts/words.ts';

/** How often the records are read again, in milliseconds. */
const everyMs = 2_000;

const words: Readonly<Record<Action, string>> = {
  send: 'Sent a message',
  cancel: 'Canceled',
  wake: 'Ran now',
  fork: 'Ran again',
  assign: 'Gave a question to a person',
  redeliver: 'Retried webhooks',
  prune: 'Deleted old tasks',
  'forget-schedule': 'Forgot a schedule',
  'fetch-file': 'Loaded a file',
  'add-agent': 'Added or removed an agent',
  'read-requests': 'Read the requests of clients',
  'read-prompts': 'Read what models are asked',
  kill: 'Killed the process',
};

/** Who did what with this inspector, the newest first. */
export function ActivityPage() {
  const { value, error, again } = useGet<{ records: readonly ActionRecord[] }>('/activity');
  useEvery(everyMs, again);
  if (error && !value) return <ProblemNote problem={error.problem} onRetry={again} />;
  if (!value) return <Loading what="Reading the activity" />;
  return (
    <div class="activity-page">
      <header class="page-head">
        <h1>Activity</h1>
        <span class="muted">What was done with this inspector since its process began</span>
      </header>
      {value.records.length === 0 ? (
        <Empty icon="check" title="Nothing was done yet" />
      ) : (
        <div class="table-frame">
          <table class="table">
            <thead>
              <tr>
                <th scope="col">When</th>
                <th scope="col">Who</th>
                <th scope="col">What</th>
                <th scope="col">Task</th>
                <th scope="col">Outcome</th>
              </tr>
            </thead>
            <tbody>
              {value.records.map((record, index) => (
                <Row key={value.records.length - index} record={record} />
              ))}
            </tbody>
          </table>
        </div>
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
      <td>{words[action]}</td>
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
