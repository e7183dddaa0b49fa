import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { type Action, type AgentSummary, mostCounted, type OpenCounts } from '../api/agent.ts';
import { ApiError, post } from './data/api.ts';
import { hrefOf, type Place, placeHref, placeNames, type Route, type Tab } from './data/route.ts';
import { useAgent, useMay, useSession } from './data/session.ts';
import { useOverview } from './data/use-overview.ts';
import { ActButton } from './forms/act-button.tsx';
import { Palette } from './palette/palette.tsx';
import { AgentMark } from './parts/agent-mark.tsx';
import { Icon, type IconName } from './parts/icon.tsx';
import { ThemeButton } from './theme-button.tsx';

const tabs: readonly (readonly [Tab, string, IconName])[] = [
  ['tasks', 'Tasks', 'tasks'],
  ['send', 'Send', 'send'],
  ['graph', 'Contexts', 'graph'],
  ['webhooks', 'Webhooks', 'webhooks'],
  ['wire', 'Requests', 'wire'],
  ['card', 'Card', 'card'],
];

const places: readonly (readonly [Place, IconName])[] = [
  ['tasks', 'tasks'],
  ['inbox', 'inbox'],
  ['charts', 'charts'],
  ['schedules', 'schedules'],
  ['requests', 'wire'],
  ['activity', 'status'],
];

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
      <Palette />
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
  const overview = useOverview();
  const asking = Object.values(overview).reduce((sum, each) => sum + each.asking, 0);
  const hidden = Object.values(overview).reduce((sum, each) => sum + (each.hidden ?? 0), 0);
  const isReadOnly = !may.some((action) => !looks.includes(action));
  const shown = places.filter(([place]) => place !== 'requests' || may.includes('read-requests'));
  return (
    <aside class="side-bar">
      <div class="brand">
        <span class="brand-mark" aria-hidden="true" />
        <span>Baton inspector</span>
        <kbd class="palette-key" title="Ctrl-K goes to any page, agent or task">
          Ctrl K
        </kbd>
      </div>
      <nav aria-label="All agents" class="places">
        {shown.map(([place, icon]) => (
          <a
            key={place}
            class="agent-link"
            href={placeHref(place)}
            aria-current={route.place === place ? 'page' : undefined}
          >
            <Icon name={icon} />
            <span class="agent-name">{placeNames[place]}</span>
            {place === 'inbox' && asking > 0 && <span class="open-count is-asking">{asking}</span>}
          </a>
        ))}
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
          <ThemeButton />
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
    void post(`/agents/${encodeURIComponent(id)}/remove`).then(() => {
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
function OpenTasks({ counts: { asking, working } }: { readonly counts: OpenCounts }) {
  const shown = (count: number) => (count > mostCounted ? `${mostCounted}+` : String(count));
  return (
    <>
      {working > 0 && (
        <span class="open-count is-working" title={`${shown(working)} at work`}>
          {shown(working)}
        </span>
      )}
      {asking > 0 && (
        <span class="open-count is-asking" title={`${shown(asking)} wait for an answer`}>
          {shown(asking)}
        </span>
      )}
    </>
  );
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
      {tabs.map(([name, words, icon]) => (
        <a
          key={name}
          class="tab"
          href={hrefOf(agent.id, name)}
          aria-current={name === tab ? 'page' : undefined}
        >
          <Icon name={icon} />
          {words}
        </a>
      ))}
    </nav>
  );
}

function AddAgent() {
  const mayAdd = useMay('add-agent');
  const { refresh } = useSession();
  const [url, setUrl] = useState('');
  const [problem, setProblem] = useState<string>();
  if (!mayAdd) return null;
  const add = (event: Event) => {
    event.preventDefault();
    setProblem(undefined);
    post<AgentSummary>('/agents', { url }).then(
      ({ id }) => {
        setUrl('');
        refresh();
        location.hash = hrefOf(id, 'card');
      },
      (error: unknown) => setProblem(error instanceof ApiError ? error.message : String(error)),
    );
  };
  return (
    <form class="add-agent" onSubmit={add}>
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
      {problem && (
        <p class="field-problem" role="alert">
          {problem}
        </p>
      )}
    </form>
  );
}

function KillButton() {
  const mayKill = useMay('kill');
  const [isKilled, setKilled] = useState(false);
  if (!mayKill) return null;
  const kill = () => {
    setKilled(true);
    // The process dies while it answers.
    void post('/kill')
      .catch(() => {})
      .finally(() => setTimeout(() => setKilled(false), 2_000));
  };
  return (
    <ActButton
      kind="danger"
      class="kill"
      disabled={isKilled}
      onClick={kill}
      title="SIGKILL. A parent process starts it again."
    >
      <Icon name="kill" />
      Kill the process
    </ActButton>
  );
}
