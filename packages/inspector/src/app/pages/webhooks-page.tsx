import type { WebhookRow } from '../../api/webhook.ts';
import { agentPath, queryOf } from '../data/api.ts';
import { hrefOf } from '../data/route.ts';
import { useAct, useAgent, useGet, useMay } from '../data/session.ts';
import { ActButton } from '../forms/act-button.tsx';
import { Empty, Loading, PageHead, ProblemNote, Table } from '../parts/bits.tsx';
import { dateTime, plural, shortId } from '../parts/words.ts';

/** How often the ledger is read again, in milliseconds. */
const everyMs = 2_000;

/** The webhooks of an agent's tasks: delivered, tried again, given up. */
export function WebhooksPage({ agent, scope }: { readonly agent: string; readonly scope: number }) {
  const summary = useAgent(agent);
  const { value, error, again } = useGet<{ webhooks: readonly WebhookRow[]; isComplete: boolean }>(
    agentPath(agent, 'webhooks') + queryOf({ scope }),
    everyMs,
  );
  const mayRedeliver = useMay('redeliver');
  const { act, problem } = useAct();
  const redeliver = async ({ taskId, id, scope = 0 }: WebhookRow) => {
    if (await act(agentPath(agent, 'redeliver'), { taskId, id, scope })) again();
  };
  if (error && !value) return <ProblemNote problem={error.problem} onRetry={again} />;
  if (!value) return <Loading what="Reading webhooks" />;
  const dead = value.webhooks.filter((row) => row.dead !== undefined);
  return (
    <div class="webhooks-page">
      <PageHead
        title="Webhooks"
        about={[
          !summary?.hasStore && 'As the agent lists them. Attempts are known from its store only.',
          !value.isComplete && 'Those of the 50 newest tasks, and all that were given up',
        ]
          .filter(Boolean)
          .join(' ')}
      />
      <ProblemNote problem={problem} />
      {dead.length > 0 && (
        <p class="dead-note" role="status">
          {`${plural(dead.length, 'webhook')} ${dead.length === 1 ? 'was' : 'were'} given up.`} Redelivering
          goes on after the last update that arrived.
        </p>
      )}
      {value.webhooks.length === 0 ? (
        <Empty icon="webhooks" title="No webhooks">
          A client registers a webhook for a task to be called with each of its updates.
        </Empty>
      ) : (
        <Table columns={['State', 'Webhook', 'Task', 'Delivered', 'Attempts', 'Credentials', '']}>
          {value.webhooks.map((row) => (
            <Row
              key={`${row.scope} ${row.taskId} ${row.id}`}
              agent={agent}
              row={row}
              onRedeliver={mayRedeliver ? () => void redeliver(row) : undefined}
            />
          ))}
        </Table>
      )}
    </div>
  );
}

interface RowProps {
  readonly agent: string;
  readonly row: WebhookRow;
  /** Undefined if that is not allowed. */
  readonly onRedeliver: (() => void) | undefined;
}

function Row({ agent, row, onRedeliver }: RowProps) {
  return (
    <tr>
      <td>
        <Delivery row={row} />
      </td>
      <td>
        <span class="mono">{row.url}</span>
        <br />
        <span class="muted">{row.id}</span>
      </td>
      <td>
        <a class="mono" href={hrefOf(agent, 'tasks', row.taskId)}>
          {shortId(row.taskId)}
        </a>
      </td>
      <td class="number">
        {row.cursor === undefined
          ? '–'
          : `${row.cursor}${row.version === undefined ? '' : ` of ${row.version}`}`}
      </td>
      <td class="number">{row.attempts ?? '–'}</td>
      <td>{row.authentication}</td>
      <td>
        {row.dead !== undefined && onRedeliver && (row.scope ?? -1) >= 0 && (
          <ActButton onClick={onRedeliver}>Redeliver</ActButton>
        )}
      </td>
    </tr>
  );
}

function Delivery({ row: { dead, attempts = 0, retryAt, cursor, version } }: { readonly row: WebhookRow }) {
  if (dead !== undefined)
    return (
      <>
        <span class="state state-failed">Given up</span>
        <p class="muted reason">{dead}</p>
      </>
    );
  if (attempts > 0)
    return (
      <>
        <span class="state state-input-required">Trying again</span>
        {retryAt && <p class="muted reason">not before {dateTime(retryAt)}</p>}
      </>
    );
  if (cursor === undefined) return <span class="state">Registered</span>;
  if (version !== undefined && cursor < version) return <span class="state state-working">Delivering</span>;
  return <span class="state state-completed">Delivered</span>;
}
