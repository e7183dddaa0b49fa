import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import {
  type AgentSummary,
  type ListedAgent,
  mostCounted,
  type OpenCounts,
  type Overview,
} from '../../api/agent.ts';
import { agentPath, post } from '../data/api.ts';
import { hrefOf, placeHref } from '../data/route.ts';
import { useAct, useMay, useSession } from '../data/session.ts';
import { money } from '../models/totals.ts';
import { AgentMark } from '../parts/agent-mark.tsx';
import { ActButton, Empty, Icon, Mistake, PageHead, RemoveButton, Table } from '../parts/bits.tsx';
import { counted, duration, plural } from '../parts/words.ts';

/** How long a failure counts here, in milliseconds: a day, as the lists offer it. */
const dayMs = String(86_400_000);

/** All agents, and how they are: each number leads to its tasks. */
export function FleetPage({ overview }: { readonly overview: Overview }) {
  const { agents } = useSession();
  const hidden = Object.values(overview).reduce((sum, each) => sum + (each.hidden ?? 0), 0);
  return (
    <div class="fleet-page">
      <PageHead
        title="Agents"
        about={hidden > 0 && `${hidden} more questions are of callers that are not shown`}
      >
        <AddAgent />
      </PageHead>
      {agents.length === 0 ? (
        <Empty icon="agent" title="No agent yet">
          Add the address of an agent: its own, or that of its card.
        </Empty>
      ) : (
        <Table
          columns={[
            ...'Agent,Working,Waiting,Questions,Failed in a day,Ended in a day,95 % within,Cost,Processes,'.split(
              ',',
            ),
          ]}
        >
          {agents.map((agent) => (
            <AgentRow key={agent.id} agent={agent} counts={overview[agent.id]} />
          ))}
        </Table>
      )}
    </div>
  );
}

interface AgentRowProps {
  readonly agent: AgentSummary;
  /** Undefined for an agent whose store the inspector does not have. */
  readonly counts: OpenCounts | undefined;
}

function AgentRow({ agent: { id, name, problem, isAdded }, counts }: AgentRowProps) {
  const { refresh } = useSession();
  const mayAdd = useMay('add-agent');
  const tasks = (query: Record<string, string>) => hrefOf(id, 'tasks', undefined, query);
  const { processes = [], versions = [], ended = 0, failed = 0 } = counts ?? {};
  return (
    <tr>
      <td>
        <a class="cell-agent" href={hrefOf(id, 'tasks')} title={problem}>
          <AgentMark id={id} name={name} />
          {name}
          {problem && <Icon name="warning" />}
        </a>
      </td>
      <Count count={counts?.working} href={tasks({ state: 'working' })} />
      <Count count={counts?.waiting} href={tasks({ state: 'submitted' })} />
      <Count count={counts?.asking} href={placeHref('inbox', { agent: id })} kind="asking" />
      <Count count={counts?.failed} href={tasks({ state: 'failed', age: dayMs })} kind="failed">
        {failed > 0 && ` · ${((100 * failed) / ended).toFixed(failed * 100 < ended ? 1 : 0)} %`}
      </Count>
      <Count count={ended} href={tasks({ age: dayMs })}>
        <Sparkline values={counts?.perHour ?? []} />
      </Count>
      <td class="muted">{counts?.p95Ms !== undefined && duration(counts.p95Ms)}</td>
      <td class="muted" title={counts?.tokens ? `${counted(counts.tokens)} tokens` : undefined}>
        {Object.entries(counts?.costs ?? {})
          .map(([currency, cost]) => money(cost / 1_000_000, currency))
          .join(' + ')}
      </td>
      <td class="muted" title={processes.join(', ')}>
        {processes.length > 0 && [processes.length, versions.join(', ')].filter(Boolean).join(' · ')}
      </td>
      <td>
        {isAdded && mayAdd && (
          <RemoveButton
            class="agent-remove"
            label={`Remove ${name}`}
            onClick={() => void post(agentPath(id, 'remove')).then(refresh, refresh)}
          />
        )}
      </td>
    </tr>
  );
}

interface CountProps {
  readonly count: number | undefined;
  readonly href: string;
  readonly kind?: string;
  /** What stands behind it. */
  readonly children?: ComponentChildren;
}

/** A number of tasks, which leads to them; a dash where there is none. */
const Count = ({ count = 0, href, kind = '', children }: CountProps) => (
  <td>
    {count > 0 ? (
      <a class={`fleet-count is-${kind}`} href={href}>
        {count > mostCounted ? `${mostCounted}+` : count}
        {children}
      </a>
    ) : (
      <span class="muted">–</span>
    )}
  </td>
);

/** How many tasks ended in each hour of a day. */
function Sparkline({ values }: { readonly values: readonly number[] }) {
  const most = Math.max(1, ...values);
  const line = values.map((value, index) => `${index * 3},${16 - (15 * value) / most}`).join(' ');
  return (
    <svg
      class="sparkline"
      viewBox="0 0 69 17"
      role="img"
      aria-label={`at most ${plural(most, 'task')} in an hour`}
    >
      <polyline points={line} />
    </svg>
  );
}

function AddAgent() {
  const mayAdd = useMay('add-agent');
  const { refresh } = useSession();
  const [url, setUrl] = useState('');
  const { act, error } = useAct();
  const [listed, setListed] = useState<readonly ListedAgent[]>([]);
  if (!mayAdd) return null;
  const add = async (address: string) => {
    const added = await act<AgentSummary>('/agents', { url: address });
    if (!added) return;
    setUrl('');
    setListed([]);
    refresh();
    location.hash = hrefOf(added.id, 'card');
  };
  const look = async (event: Event) => {
    event.preventDefault();
    const found = await act<{ agents: readonly ListedAgent[] }>('/hosts', { url });
    if (found && found.agents.length > 1) setListed(found.agents);
    else if (found) await add(url);
  };
  return (
    <form class="add-agent" onSubmit={(event) => void look(event)}>
      <label>
        <span class="visually-hidden">Address of an agent</span>
        <input
          type="text"
          inputMode="url"
          autocomplete="off"
          spellcheck={false}
          placeholder="Agent's address"
          value={url}
          onInput={(event) => setUrl(event.currentTarget.value)}
        />
      </label>
      <ActButton type="submit" disabled={url.trim() === ''}>
        Add
      </ActButton>
      <Mistake text={error?.message} />
      {listed.length > 0 && (
        <ul aria-label="Agents of this host">
          {listed.map(({ name, description, url: card }) => (
            <li key={card}>
              <button type="button" title={card} onClick={() => void add(card)}>
                {name}
              </button>{' '}
              <span class="muted">{description}</span>
            </li>
          ))}
        </ul>
      )}
    </form>
  );
}
