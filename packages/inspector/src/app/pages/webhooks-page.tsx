import { useEffect, useState } from 'preact/hooks';
import type { WebhookRow } from '../../api/webhook.ts';
import { ApiError, post, queryOf } from '../data/api.ts';
import { hrefOf } from '../data/route.ts';
import { useAgent, useGet, useMay } from '../data/session.ts';
import { ActButton } from '../forms/act-button.tsx';
import { Empty, Loading, ProblemNote } from '../parts/bits.tsx';
import { dateTime, plural, shortId } from '../parts/words.ts';

/** How often the ledger is read again, in milliseconds. */
const everyMs = 2_000;

/** The webhooks of an agent's tasks: delivered, tried again, given up. */
export function WebhooksPage({ agent, scope }: { readonly agent: string; readonly scope: number }) {
  const summary = useAgent(agent);
  const path = `/agents/${encodeURIComponent(agent)}/webhooks${queryOf({ scope })}`;
  const { value, error, again } = useGet<{ webhooks: readonly WebhookRow[]; isComplete: boolean }>(path);
  const [failure, setFailure] = useState<ApiError>();
  useEffect(() => {
    const timer = setInterval(again, everyMs);
    return () => clearInterval(timer);
  }, [path]);
  const redeliver = ({ taskId, id, scope = 0 }: WebhookRow) => {
    setFailure(undefined);
    post(`/agents/${encodeURIComponent(agent)}/redeliver`, { taskId, id, scope }).then(
      again,
      (reason: unknown) =>
        setFailure(reason instanceof ApiError ? reason : new ApiError(0, { message: String(reason) })),
    );
  };
  if (error && !value) return <ProblemNote problem={error.problem} onRetry={again} />;
  if (!value) return <Loading what="Reading webhooks" />;
  const dead = value.webhooks.filter((row) => row.dead !== undefined);
  return (
    <div class="webhooks-page">
      <header class="page-head">
        <h1>Webhooks</h1>
        {!summary?.hasStore && (
          <span class="muted">As the agent lists them. Attempts are known from its store only.</span>
        )}
        {!value.isComplete && (
          <span class="muted">Those of the 50 newest tasks, and all that were given up</span>
        )}
      </header>
      {failure && <ProblemNote problem={failure.problem} />}
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
        <WebhookTable agent={agent} webhooks={value.webhooks} onRedeliver={redeliver} />
      )}
    </div>
  );
}

interface WebhookTableProps {
  readonly agent: string;
  readonly webhooks: readonly WebhookRow[];
  readonly onRedeliver: (row: WebhookRow) => void;
}

function WebhookTable({ agent, webhooks, onRedeliver }: WebhookTableProps) {
  const mayRedeliver = useMay('redeliver');
  return (
    <div class="table-frame">
      <table class="table">
        <thead>
          <tr>
            <th scope="col">State</th>
            <th scope="col">Webhook</th>
            <th scope="col">Task</th>
            <th scope="col">Delivered</th>
            <th scope="col">Attempts</th>
            <th scope="col">Credentials</th>
            <th scope="col">
              <span class="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {webhooks.map((row) => (
            <Row
              key={`${row.scope} ${row.taskId} ${row.id}`}
              agent={agent}
              row={row}
              onRedeliver={mayRedeliver ? onRedeliver : undefined}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface RowProps {
  readonly agent: string;
  readonly row: WebhookRow;
  /** Undefined if that is not allowed. */
  readonly onRedeliver: ((row: WebhookRow) => void) | undefined;
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
          <ActButton onClick={() => onRedeliver(row)}>Redeliver</ActButton>
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
