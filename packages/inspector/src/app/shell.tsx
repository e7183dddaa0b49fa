import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { type Action, type AgentSummary, mostCounted, type OpenCounts, type Overview } from '../api/agent.ts';
import { agentPath, post } from './data/api.ts';
import { hrefOf, type Place, placeHref, places, type Route, type Tab, tabs } from './data/route.ts';
import { useAct, useAgent, useGet, useMay, useSession } from './data/session.ts';
import { ActButton } from './forms/act-button.tsx';
import { AgentMark } from './parts/agent-mark.tsx';
import { Icon } from './parts/bits.tsx';

/** How often the counts of open tasks are read again, in milliseconds. */
const everyMs = 3_000;

/** The actions that change nothing at an agent. */
const looks: readonly Action[] = ['fetch-file', 'add-agent', 'read-requests'];

interface ShellProps {
  readonly route: Route;
  /** How long the last loss of the connection took, in milliseconds, while that is news. */
  readonly backAfterMs: number | undefined;
  readonly children: ComponentChildren;
}

/** What stands around every page: the agents, the pages of the chosen one, and the state of the connection. */
export function Shell({ route, backAfterMs, children }: ShellProps) {
  const agent = useAgent(route.agent ?? '');
  return (
    <div class="shell">
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to the page
      </button>
      <SideBar route={route} />
      <div class="main-column">
        {agent && <Tabs agent={agent} tab={route.tab} />}
        <Banner backAfterMs={backAfterMs} />
        <main id="main" class="page" tabIndex={-1}>
          {children}
        </main>
      </div>
    </div>
  );
}

function SideBar({ route }: { readonly route: Route }) {
  const { agents, may, viewer } = useSession();
  const { value: overview = {} } = useGet<Overview>('/overview', everyMs);
  const asking = Object.values(overview).reduce((sum, each) => sum + each.asking, 0);
  const hidden = Object.values(overview).reduce((sum, each) => sum + (each.hidden ?? 0), 0);
  const isReadOnly = !may.some((action) => !looks.includes(action));
  const shown = (Object.keys(places) as Place[]).filter(
    (place) => place !== 'requests' || may.includes('read-requests'),
  );
  return (
    <aside class="side-bar">
      <div class="brand">
        <span class="brand-mark" aria-hidden="true" />
        <span>Baton inspector</span>
      </div>
      <nav aria-label="All agents" class="places">
        {shown.map((place) => {
          const [name, icon] = places[place];
          if (!icon) return null;
          return (
            <a
              key={place}
              class="agent-link"
              href={placeHref(place)}
              aria-current={route.place === place ? 'page' : undefined}
            >
              <Icon name={icon} />
              <span class="agent-name">{name}</span>
              {place === 'inbox' && asking > 0 && <span class="open-count is-asking">{asking}</span>}
            </a>
          );
        })}
      </nav>
      <nav aria-label="Agents">
        <h2 class="side-title">Agents</h2>
        <ul class="agents">
          {agents.map((each) => (
            <AgentItem key={each.id} agent={each} route={route} counts={overview[each.id]} />
          ))}
        </ul>
        {hidden > 0 && (
          <p class="muted">{`${hidden} ${hidden === 1 ? 'question' : 'questions'} of other callers, not shown`}</p>
        )}
        <AddAgent />
      </nav>
      <div class="side-foot">
        <KillButton />
        <div class="side-row">
          <span class={`mode ${isReadOnly ? 'mode-read' : ''}`}>
            {isReadOnly && <Icon name="lock" />}
            {isReadOnly ? 'Read only' : (viewer ?? 'Can send and cancel')}
          </span>
        </div>
      </div>
    </aside>
  );
}

interface AgentItemProps {
  readonly agent: AgentSummary;
  readonly route: Route;
  /** Undefined for an agent whose store the inspector does not have. */
  readonly counts: OpenCounts | undefined;
}

function AgentItem({ agent: { id, name, problem, isAdded }, route, counts }: AgentItemProps) {
  const { refresh } = useSession();
  const mayAdd = useMay('add-agent');
  const item = useRef<HTMLLIElement>(null);
  const isCurrent = id === route.agent;
  // On a narrow screen the agents are one row that scrolls.
  useEffect(() => {
    if (isCurrent) item.current?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [isCurrent]);
  const remove = () =>
    void post(agentPath(id, 'remove')).then(() => {
      if (isCurrent) location.hash = '#/';
      refresh();
    }, refresh);
  return (
    <li ref={item} class="agent-item">
      <a class="agent-link" href={hrefOf(id, route.tab)} aria-current={isCurrent ? 'page' : undefined}>
        <AgentMark id={id} name={name} />
        <span class="agent-name">{name}</span>
        {problem && <Icon name="warning" />}
      </a>
      {counts && <OpenTasks counts={counts} />}
      {isAdded && mayAdd && (
        <button type="button" class="agent-remove" aria-label={`Remove ${name}`} onClick={remove}>
          <Icon name="cancel" />
        </button>
      )}
    </li>
  );
}

/** How many tasks of an agent wait for an answer, and how many it works on. */
function OpenTasks({ counts }: { readonly counts: OpenCounts }) {
  const words = { working: 'at work', asking: 'wait for an answer' } as const;
  return (['working', 'asking'] as const).map((kind) => {
    const shown = counts[kind] > mostCounted ? `${mostCounted}+` : String(counts[kind]);
    return (
      counts[kind] > 0 && (
        <span key={kind} class={`open-count is-${kind}`} title={`${shown} ${words[kind]}`}>
          {shown}
        </span>
      )
    );
  });
}

function Banner({ backAfterMs }: Pick<ShellProps, 'backAfterMs'>) {
  const { isLost } = useSession();
  return (
    <div class="banner-place" aria-live="polite">
      {isLost && (
        <p class="banner banner-lost">
          <Icon name="connection" />
          The connection to the inspector is lost. It is tried again until it is back.
        </p>
      )}
      {!isLost && backAfterMs !== undefined && (
        <p class="banner banner-back">
          <Icon name="check" />
          Back after {(backAfterMs / 1_000).toFixed(1)} s. Everything went on where it was.
        </p>
      )}
    </div>
  );
}

function Tabs({ agent, tab }: { readonly agent: AgentSummary; readonly tab: Tab }) {
  const nav = useRef<HTMLElement>(null);
  // On a narrow screen the tabs are one row that scrolls.
  useEffect(() => {
    nav.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [tab]);
  return (
    <nav ref={nav} class="tabs" aria-label={`Pages of ${agent.name}`}>
      {(Object.keys(tabs) as Tab[]).map((name) => (
        <a
          key={name}
          class="tab"
          href={hrefOf(agent.id, name)}
          aria-current={name === tab ? 'page' : undefined}
        >
          <Icon name={tabs[name][1]} />
          {tabs[name][0]}
        </a>
      ))}
    </nav>
  );
}

function AddAgent() {
  const mayAdd = useMay('add-agent');
  const { refresh } = useSession();
  const [url, setUrl] = useState('');
  const { act, error } = useAct();
  if (!mayAdd) return null;
  const add = async (event: Event) => {
    event.preventDefault();
    const added = await act<AgentSummary>('/agents', { url });
    if (!added) return;
    setUrl('');
    refresh();
    location.hash = hrefOf(added.id, 'card');
  };
  return (
    <form class="add-agent" onSubmit={(event) => void add(event)}>
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
      {error && (
        <p class="field-problem" role="alert">
          {error.message}
        </p>
      )}
    </form>
  );
}

function KillButton() {
  const mayKill = useMay('kill');
  // The process dies while it answers.
  const { act, isBusy } = useAct();
  if (!mayKill) return null;
  return (
    <ActButton
      kind="danger"
      class="kill"
      disabled={isBusy}
      onClick={() => void act('/kill')}
      title="SIGKILL. A parent process starts it again."
    >
      <Icon name="kill" />
      Kill the process
    </ActButton>
  );
}
